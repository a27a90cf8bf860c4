// Fills the page.

function showSources() {
  for (const row of report.rows) {
    if (!row.title) continue;
    byId("source-list").append(element("dt", {}, named(row)),
      element("dd", {}, row.source ? `${row.title}. ${row.source}` : row.title));
  }
}

showFacts();
showRates();
showSizes();
showHeat();
if (rows.some((row) => data.trees[row.algorithm])) showTree();
else byId("trees").hidden = true;
showSources();
document.documentElement.dataset.ready = "yes";
