// Fills the table of a data set page from its JSON rows.
const table = document.getElementById("rows");
const line = (cells, kind) => {
  const row = document.createElement("tr");
  for (const cell of cells) {
    const element = document.createElement(kind);
    element.textContent = cell ?? "";
    row.append(element);
  }
  return row;
};
fetch(table.dataset.source)
  .then((answer) => answer.json())
  .then(({ header, rows }) => {
    table.tHead.append(line(header, "th"));
    table.tBodies[0].append(...rows.map((row) => line(row, "td")));
  });
