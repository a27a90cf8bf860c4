// Times over sizes: bars for one size, the table of all, and measured runs.

// The bar list of one size; of each kind, the fastest first.
function showSize(index) {
  const output = byId("at-size-bars");
  const most = Math.max(...timed.map((entry) => entry.times[index].simulated_algbw));
  byId("at-size-name").textContent = bytes(timed[0].times[index].bytes);
  byId("at-size-input").setAttribute("aria-valuetext", bytes(timed[0].times[index].bytes));
  output.replaceChildren();
  for (const kind of Object.keys(kinds)) {
    const ranking = timed.filter((entry) => entry.kind === kind)
      .sort((a, b) => a.times[index].simulated_seconds - b.times[index].simulated_seconds);
    if (ranking.length > 0) output.append(element("span", {class: "kind"}, kinds[kind]));
    for (const {row, times} of ranking) {
      const fill = element("i");
      fill.style.width = `${(times[index].simulated_algbw / most) * 100}%`;
      output.append(element("span", {class: "name"}, named(row)),
        element("span", {class: `track ${slot(row)}`}, fill),
        element("span", {class: "value"}, `${rate(times[index].simulated_algbw)} GB/s `,
          element("small", {}, duration(times[index].simulated_seconds))));
    }
  }
  markSize(index);
}

// A vertical line in the charts, at the size that the bars show.
function markSize(index) {
  for (const chart of document.querySelectorAll("svg.fc-chart")) {
    const line = chart.querySelector(".fc-cross");
    const at = JSON.parse(chart.dataset.sizes).indexOf(timed[0].times[index].bytes);
    if (at < 0) continue;
    const x = JSON.parse(chart.dataset.x)[at];
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    line.removeAttribute("visibility");
  }
}

function nearestSize(chart, event) {
  const box = chart.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * chart.viewBox.baseVal.width;
  const places = JSON.parse(chart.dataset.x);
  const at = places.reduce((best, place, i) => (Math.abs(place - x) < Math.abs(places[best] - x) ? i : best), 0);
  return timed[0].times.findIndex((time) => time.bytes === JSON.parse(chart.dataset.sizes)[at]);
}

function showSizes() {
  if (timed.length === 0) {
    byId("sizes").hidden = true;
    return;
  }
  const last = timed[0].times.length - 1;
  const input = element("input", {type: "range", min: 0, max: last, value: last, step: 1, id: "at-size-input"});
  const choose = (index) => {
    input.value = index;
    showSize(index);
  };
  input.addEventListener("input", () => showSize(Number(input.value)));
  byId("at-size").append(element("label", {}, element("span", {id: "at-size-name"}), input),
    element("div", {class: "bars", id: "at-size-bars"}));
  choose(last);
  for (const chart of document.querySelectorAll("svg.fc-chart")) {
    chart.addEventListener("pointerdown", (event) => choose(nearestSize(chart, event)));
    chart.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") choose(nearestSize(chart, event));
    });
  }
  showTimes();
  showMeasured();
}

function showTimes() {
  const head = element("thead");
  const groups = Object.keys(kinds).map((kind) => [kinds[kind], timed.filter((entry) => entry.kind === kind).length]);
  head.append(element("tr", {}, element("th"), ...groups.filter(([, count]) => count > 0)
    .map(([title, count]) => element("th", {colspan: count, class: "kind"}, title))));
  head.append(element("tr", {}, element("th", {}, "size"),
    ...timed.map((entry) => element("th", {}, named(entry.row)))));
  const body = element("tbody");
  timed[0].times.forEach((time, i) => {
    const best = (kind) => Math.min(...timed.filter((e) => e.kind === kind).map((e) => e.times[i].simulated_seconds));
    const cells = timed.map(({kind, times}) => element("td", times[i].simulated_seconds === best(kind) ? {class: "fastest"} : {},
      duration(times[i].simulated_seconds)));
    body.append(element("tr", {}, element("td", {}, bytes(time.bytes)), ...cells));
  });
  byId("time-table").append(head, body);
}

function showMeasured() {
  for (const run of report.measured || []) {
    const head = ["size", run.origin ? "run GB/s" : "measured GB/s", "model GB/s", "achieved"];
    const table = element("table", {}, element("thead", {}, element("tr", {}, ...head.map((t) => element("th", {}, t)))));
    const body = element("tbody");
    for (const time of run.times) {
      const cells = [bytes(time.bytes), rate(time.measured_algbw),
        time.simulated_algbw ? rate(time.simulated_algbw) : "–",
        time.wrong ? "wrong results" : time.achieved_fraction ? percent(time.achieved_fraction) : "–"];
      body.append(element("tr", {}, ...cells.map((text) => element("td", {}, text))));
    }
    table.append(body);
    byId("measured").append(element("details", {open: ""},
      element("summary", {}, `${run.origin || "Measured"}: ${run.file}, ${run.placement}, beside ${run.algorithm}`),
      element("div", {class: "scroll"}, table)));
  }
}
