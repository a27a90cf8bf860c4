// The head, the table of rates, and what is not in it.

function showFacts() {
  byId("facts").textContent = data.facts;
  byId("bottleneck").append(element("b", {}, "The bottleneck: "), data.bottleneck);
  const drawing = document.querySelector("#drawing svg");
  if (!drawing) return;
  drawing.style.setProperty("--natural", `${drawing.width.baseVal.value}px`);
  const tellWidth = () => {
    byId("drawing-wide").hidden = byId("drawing").scrollWidth <= byId("drawing").clientWidth;
  };
  window.addEventListener("resize", tellWidth);
  tellWidth();
}

// What rows are parts of: the optimum, or what is known in its place.
const best = report.optimum.exact ? report.optimum : report.two_phases;

function rateCells(row) {
  const bar = element("span", {class: `bar ${slot(row)}`}, element("i"));
  bar.firstChild.style.width = `${Math.min(100, row.optimum_fraction * 100)}%`;
  const height = row.height ? [`${row.height.max} `, element("small", {}, `(${figure(row.height.mean, 2)})`)] : ["–"];
  const size = row.program_size;
  const use = size ? `${size.threadblocks} / ${size.channels} / ${size.threadblock_steps}` : "–";
  const link = row.busiest_link, limit = row.busiest_limit;
  const held = limit && (!link || limit.busy > link.busy * (1 + 1e-9));
  const busiest = held ? `limit ${limit.name}` : link ? `${link.src} → ${link.dst}` : "–";
  return [
    element("td", {}, named(row)),
    element("td", {title: `${row.algbw.exact} GB/s`}, figure(row.algbw.value)),
    element("td", {}, percentOf(row.algbw, best), bar),
    element("td", {}, figure(row.busbw.value)),
    element("td", {}, ...height),
    element("td", {}, row.k ? String(row.k) : "–"),
    element("td", {}, row.trees ? String(row.trees) : "–"),
    element("td", {}, use),
    element("td", {class: "words"}, busiest),
  ];
}

function showRates() {
  const head = ["algorithm", "algbw GB/s", data.fractionTitle, "busbw GB/s", "height (mean)", "k", "trees",
    "threadblocks, channels, steps", "busiest link"];
  const table = byId("rate-table");
  const cells = head.map((title, i) => element("th", i === 8 ? {class: "words"} : {}, title));
  table.append(element("thead", {}, element("tr", {}, ...cells)));
  const body = element("tbody");
  const limit = (name, value) => {
    const part = value.value / best.value;
    body.append(element("tr", {class: "limit"}, element("td", {}, name), element("td", {title: value.exact}, figure(value.value)),
      element("td", {}, percentOf(value, best)), element("td", {}, figure(data.optimumBusbw * part)), element("td", {colspan: "5"})));
  };
  if (report.reached.exact) limit("reached by synth, for its default target", report.reached);
  limit(report.optimum_name, best);
  let said = best.exact;
  if (report.optimum_by_trees.exact && report.optimum_by_trees.exact !== said) {
    limit("optimum by trees (proved)", report.optimum_by_trees);
    said = report.optimum_by_trees.exact;
  }
  if (report.two_phases && report.two_phases.exact !== said) {
    limit("reduce-scatter, then allgather (proved)", report.two_phases);
  }
  for (const row of rows) {
    body.append(element("tr", row.algorithm === "forestcoll" ? {class: "ours"} : {}, ...rateCells(row)));
  }
  table.append(body);
  showRefused();
}

function showRefused() {
  const items = report.optimum_says ? [["optimum", report.optimum_says]] : [];
  for (const size of report.refused_sizes || []) items.push([`size ${size.size}`, `${size.message} [${size.code}]`]);
  for (const row of report.rows) {
    if (row.error) items.push([row.algorithm, `${row.error.message} [${row.error.code}]`]);
    if (row.times_error) items.push([row.algorithm, `not simulated: ${row.times_error.message} [${row.times_error.code}]`]);
    if (row.program_times_error) {
      items.push([row.algorithm, `not simulated as a program: ${row.program_times_error.message} [${row.program_times_error.code}]`]);
    }
    if (row.note) items.push([row.algorithm, row.note]);
  }
  if (items.length === 0) return;
  // Once of all algorithms of which the same is said.
  const said = new Map();
  for (const [who, why] of items) said.set(why, said.has(why) ? `${said.get(why)}, ${who}` : who);
  const list = [...said].map(([why, who]) => element("li", {}, element("b", {}, who), `: ${why}`));
  byId("refused").append(element("ul", {}, ...list));
}
