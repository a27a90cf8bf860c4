// The heat map: a strip for each algorithm, a cell for each link.

const gap = 3;  // pixels between groups of links

function heatColors() {
  const style = getComputedStyle(document.documentElement);
  return [0, 1, 2, 3, 4].map((i) => {
    const hex = style.getPropertyValue(`--heat-${i}`).trim();
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  });
}
function mix(colors, share) {
  const at = Math.min(0.9999, Math.max(0, share)) * (colors.length - 1);
  const low = Math.floor(at);
  const part = colors[low].map((c, i) => Math.round(c + (colors[low + 1][i] - c) * (at - low)));
  return `rgb(${part.join(",")})`;
}

// Where each cell of a strip lies, in pixels; links share a cell where they are too many.
function cellsOf(width) {
  const groups = data.links.groups;
  const all = groups.reduce((sum, group) => sum + group.count, 0);
  const room = width - gap * (groups.length - 1);
  const cells = [];
  let x = 0;
  for (const group of groups) {
    const wide = (room * group.count) / all;
    const count = Math.max(1, Math.min(group.count, Math.floor(wide / 2)));
    for (let i = 0; i < count; i += 1) {
      cells.push({x: x + (wide * i) / count, width: wide / count,
        first: group.first + Math.floor((group.count * i) / count),
        end: group.first + Math.floor((group.count * (i + 1)) / count)});
    }
    x += wide + gap;
  }
  return cells;
}

function drawStrip(canvas, busy) {
  const width = canvas.clientWidth, height = canvas.clientHeight, dots = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * dots);
  canvas.height = Math.round(height * dots);
  const paint = canvas.getContext("2d");
  const colors = heatColors();
  const cells = cellsOf(width);
  for (const cell of cells) {
    let sum = 0;
    for (let i = cell.first; i < cell.end; i += 1) sum += busy[i];
    paint.fillStyle = mix(colors, sum / (cell.end - cell.first) / 1000);
    // Whole dots, or neighbours would leave seams between them.
    const left = Math.round(cell.x * dots), right = Math.round((cell.x + cell.width) * dots);
    paint.fillRect(left, 0, right - left - (cell.width > 5 ? 1 : 0), canvas.height);
  }
  return cells;
}

function describeCell(row, busy, cell) {
  const name = (i) => `${data.nodes[data.links.ends[i][0]]} → ${data.nodes[data.links.ends[i][1]]}`;
  const values = busy.slice(cell.first, cell.end);
  const low = Math.min(...values) / 10, high = Math.max(...values) / 10;
  if (values.length === 1) {
    return `${row.algorithm}: ${name(cell.first)}, ${figure(data.links.bandwidth[cell.first])} GB/s, ${figure(low, 1)} % busy`;
  }
  return `${row.algorithm}: ${values.length} links, ${name(cell.first)} to ${name(cell.end - 1)}, ` +
    (low === high ? `${figure(low, 1)} % busy` : `${figure(low, 1)} to ${figure(high, 1)} % busy`);
}

function showHeat() {
  const shown = rows.filter((row) => data.busy[row.algorithm]);
  if (shown.length === 0) {
    byId("links").hidden = true;
    return;
  }
  const letter = (i) => String.fromCharCode(65 + (i % 26)) + (i < 26 ? "" : Math.floor(i / 26));
  const letters = element("div", {class: "letters"});
  data.links.groups.forEach((group, i) => {
    const label = element("span", {}, letter(i));
    label.style.flex = `${group.count} 1 0`;
    letters.append(label);
    byId("heat-groups").append(element("li", {}, element("b", {}, letter(i)), ` ${group.title}`));
  });
  const heat = byId("heat");
  heat.append(element("div", {class: "strip"},
    element("span", {class: "scale"}, "0 %", element("i"), "100 %"), letters));
  const strips = shown.map((row) => {
    const canvas = element("canvas", {role: "slider", tabindex: "0", "aria-valuemin": "0", "aria-valuenow": "0",
      "aria-label": `How busy the links are under ${row.algorithm}: the arrow keys go from cell to cell`});
    heat.append(element("div", {class: "strip"}, element("span", {class: "name"}, named(row)), canvas));
    const strip = {canvas, busy: data.busy[row.algorithm], cells: [], at: 0};
    const choose = (at) => {
      strip.at = Math.max(0, Math.min(strip.cells.length - 1, at));
      const words = describeCell(row, strip.busy, strip.cells[strip.at]);
      byId("heat-readout").textContent = words;
      canvas.setAttribute("aria-valuemax", strip.cells.length - 1);
      canvas.setAttribute("aria-valuenow", strip.at);
      canvas.setAttribute("aria-valuetext", words);
    };
    const tell = (event) => {
      const x = event.clientX - canvas.getBoundingClientRect().left;
      const at = strip.cells.findIndex((c) => x >= c.x && x < c.x + c.width);
      if (at >= 0) choose(at);
    };
    const steps = {ArrowLeft: () => strip.at - 1, ArrowRight: () => strip.at + 1, ArrowDown: () => strip.at - 1,
      ArrowUp: () => strip.at + 1, Home: () => 0, End: () => strip.cells.length - 1};
    canvas.addEventListener("pointermove", tell);
    canvas.addEventListener("pointerdown", tell);
    canvas.addEventListener("focus", () => choose(strip.at));
    canvas.addEventListener("keydown", (event) => {
      if (!steps[event.key]) return;
      event.preventDefault();
      choose(steps[event.key]());
    });
    return strip;
  });
  const draw = () => strips.forEach((strip) => {
    strip.cells = drawStrip(strip.canvas, strip.busy);
  });
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}
