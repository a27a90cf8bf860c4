// Times over sizes: bars for one size, the table of all, and measured runs.

// The bar list of one size; the fastest first.
function showSize(index) {
  const size = timed[0].times[index].bytes;
  const output = byId("at-size-bars");
  const ranking = timed.map((row) => [row, row.times[index]]).sort((a, b) => a[1].seconds - b[1].seconds);
  const most = ranking[0][1].algbw;
  byId("at-size-name").textContent = bytes(size);
  byId("at-size-input").setAttribute("aria-valuetext", bytes(size));
  output.replaceChildren();
  for (const [row, time] of ranking) {
    const fill = element("i");
    fill.style.width = `${(time.algbw / most) * 100}%`;
    output.append(element("span", {class: "name"}, named(row)),
      element("span", {class: `track ${slot(row)}`}, fill),
      element("span", {class: "value"}, `${rate(time.algbw)} GB/s `, element("small", {}, duration(time.seconds))));
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
  const table = byId("time-table");
  table.append(element("thead", {}, element("tr", {}, element("th", {}, "size"),
    ...timed.map((row) => element("th", {}, row.algorithm)))));
  const body = element("tbody");
  timed[0].times.forEach((time, i) => {
    const best = Math.min(...timed.map((row) => row.times[i].seconds));
    const cells = timed.map((row) => element("td", row.times[i].seconds === best ? {class: "fastest"} : {},
      duration(row.times[i].seconds)));
    body.append(element("tr", {}, element("td", {}, bytes(time.bytes)), ...cells));
  });
  table.append(body);
}

function showMeasured() {
  for (const run of report.measured || []) {
    const head = ["size", "measured GB/s", "model GB/s", "achieved"];
    const table = element("table", {}, element("thead", {}, element("tr", {}, ...head.map((t) => element("th", {}, t)))));
    const body = element("tbody");
    for (const time of run.times) {
      const cells = [bytes(time.bytes), rate(time.algbw), time.modelled ? rate(time.modelled) : "–",
        time.achieved ? percent(time.achieved) : "–"];
      body.append(element("tr", {}, ...cells.map((text) => element("td", {}, text))));
    }
    table.append(body);
    byId("measured").append(element("details", {open: ""},
      element("summary", {}, `Measured: ${run.file}, ${run.placement}, beside ${run.algorithm}`),
      element("div", {class: "scroll"}, table)));
  }
}
