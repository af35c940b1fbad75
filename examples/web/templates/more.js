// Continues a table by its further JSON rows: at each press of the button, or when its end comes into sight.
const button = document.getElementById("more");
const end = document.getElementById("end");
const { source } = (button ?? end).dataset;
const rows = document.querySelector("tbody");
let page = 1;
let busy = false;
const bring = async () => {
  if (busy) return;
  busy = true;
  page += 1;
  const answer = await (await fetch(`${source}?page=${page}`)).json();
  for (const cells of answer.rows) {
    const row = rows.insertRow();
    for (const cell of cells) row.insertCell().textContent = cell ?? "";
  }
  busy = answer.last;
  if (answer.last) (button ?? end).remove();
};
button?.addEventListener("click", bring);
if (end) new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && bring()).observe(end);
