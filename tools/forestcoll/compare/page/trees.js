// The trees, one at a time, as an outline.

const drawnWhole = 40;  // ranks; larger trees are drawn with what is alike as one

// What the tree on the page spans: the ranks, and the switches where it branches.
let spanned = data.ranks;
const rankName = (rank) => data.nodes[spanned[rank]];

// {rank, via, children, alike} with `alike` ranks of the same shape under the same parent.
function nest(tree) {
  const nodes = tree.parent.map((parent, rank) => ({rank, via: tree.via[rank], children: [], alike: [rank]}));
  tree.parent.forEach((parent, rank) => {
    if (parent >= 0) nodes[parent].children.push(nodes[rank]);
  });
  if (nodes.length > drawnWhole) fold(nodes[tree.root]);
  return nodes[tree.root];
}

// Joins siblings whose subtrees look the same; returns the shape of the subtree.
function fold(node) {
  const kinds = new Map();
  for (const child of node.children) {
    const key = `${fold(child)}${child.via.length}`;
    const first = kinds.get(key);
    if (first) first.alike.push(child.rank);
    else kinds.set(key, child);
  }
  const shape = node.children.map((child) => child.shape).sort().join("");
  node.children = [...kinds.values()];
  node.shape = `(${shape})`;
  return node.shape;
}

function label(node, isRoot) {
  const last = node.alike[node.alike.length - 1];
  const many = node.alike.length - 1;
  const via = node.via.map((id) => data.nodes[id]);
  const route = via.length > 3 ? `${via[0]}, … ${via[via.length - 1]}` : via.join(", ");
  return [element("span", isRoot ? {class: "root"} : {}, rankName(node.rank)),
    many > 0 ? element("span", {class: "many"}, ` and ${many} alike, … ${rankName(last)}`) : null,
    via.length > 0 ? element("span", {class: "via"}, ` via ${route}`) : null].filter((part) => part !== null);
}

// A chain of only children is no deeper on the page than its first node.
function outline(node, isRoot) {
  const item = element("li", {}, ...label(node, isRoot));
  if (node.children.length === 0) return item;
  const list = element("ul");
  let below = node.children;
  const chain = [];
  while (below.length === 1 && below[0].alike.length === 1) {
    chain.push(below[0]);
    below = below[0].children;
  }
  if (chain.length > 2) {
    const ends = chain.length > drawnWhole ? 5 : chain.length;
    chain.forEach((link, i) => {
      if (i < ends || i >= chain.length - ends) {
        list.append(element("li", {}, element("span", {class: "many"}, `${i + 1}. `), ...label(link, false)));
      } else if (i === ends) {
        list.append(element("li", {class: "many"}, `… ${chain.length - 2 * ends} more, one after another …`));
      }
    });
    if (below.length > 0) {
      const rest = element("ul");
      below.forEach((child) => rest.append(outline(child, false)));
      list.lastChild.append(rest);
    }
  } else {
    node.children.forEach((child) => list.append(outline(child, false)));
  }
  item.append(list);
  return item;
}

const leaf = {row: 0, phase: 0, tree: 0};

function showTree() {
  const shown = rows.filter((row) => data.trees[row.algorithm]);
  const phases = data.trees[shown[leaf.row].algorithm];
  leaf.phase = Math.min(leaf.phase, phases.length - 1);
  const phase = phases[leaf.phase];
  leaf.tree = Math.min(leaf.tree, phase.list.length - 1);
  const tree = phase.list[leaf.tree];
  spanned = tree.ranks ?? data.ranks;

  const select = element("select", {"aria-label": "algorithm"},
    ...shown.map((row, i) => element("option", i === leaf.row ? {selected: "", value: i} : {value: i}, row.algorithm)));
  select.addEventListener("change", () => turn({row: Number(select.value), tree: 0}));
  const button = (text, change, attributes) => {
    const made = element("button", {type: "button", ...attributes}, text);
    made.addEventListener("click", () => turn(change));
    return made;
  };
  const choice = phases.length < 2 ? [] : phases.map((p, i) =>
    button(p.phase, {phase: i, tree: 0}, {"aria-pressed": String(i === leaf.phase)}));
  const back = button("‹ previous", {tree: leaf.tree - 1}, leaf.tree === 0 ? {disabled: ""} : {});
  const next = button("next ›", {tree: leaf.tree + 1}, leaf.tree + 1 === phase.list.length ? {disabled: ""} : {});
  const beyond = phase.list.length < phase.total ? `; the page holds the first ${phase.list.length}` : "";
  const flow = phase.phase === "reduce" ? "data flows towards the root" : "data flows away from the root";
  byId("leafing").replaceChildren(select, ...choice, back, next, element("p", {class: "which"},
    `Tree ${leaf.tree + 1} of ${phase.total}${beyond}: root ${rankName(tree.root)}, height ${tree.height}, ` +
    `carries ${tree.multiplicity} of ${phase.k} parts of ${tree.ranks ? "all" : "its root’s"} data; ${flow}.`));
  byId("tree").replaceChildren(element("ul", {class: "tree"}, outline(nest(tree), true)));
}

function turn(change) {
  Object.assign(leaf, change);
  showTree();
}
