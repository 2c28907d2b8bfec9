// Shows a chart's values under the pointer, or with the arrow keys. They are read from the chart's
// own table, so without this script they are there to be read as well.
for (const figure of document.querySelectorAll("figure")) {
  const chart = figure.querySelector(".chart");
  const svg = chart.querySelector("svg");
  const head = [...figure.querySelectorAll("thead th")].map((th) => th.textContent);
  const rows = [...figure.querySelectorAll("tr[data-x]")].map((tr) => ({ x: +tr.dataset.x, tr }));
  if (!rows.length) continue;
  const cursor = document.createElement("div");
  cursor.className = "cursor";
  const tip = document.createElement("div");
  tip.className = "tip";
  let at = -1;
  const show = (n) => {
    at = n;
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const cells = [...rows[n].tr.cells].map((td) => td.textContent);
    tip.replaceChildren();
    cells.forEach((text, i) => {
      const line = document.createElement("div");
      const value = document.createElement("b");
      value.textContent = text;
      line.append(i ? head[i] + "  " : "", value);
      tip.append(line);
    });
    chart.append(cursor, tip);
    const x = rows[n].x * scale;
    cursor.style.left = x + "px";
    cursor.style.top = chart.dataset.top * scale + "px";
    cursor.style.height = (chart.dataset.bottom - chart.dataset.top) * scale + "px";
    const left = x + 12 + tip.offsetWidth > chart.scrollWidth ? x - 12 - tip.offsetWidth : x + 12;
    tip.style.left = Math.max(0, left) + "px";
    tip.style.top = chart.dataset.top * scale + "px";
  };
  const hide = () => {
    cursor.remove();
    tip.remove();
  };
  const nearest = (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    let best = 0;
    rows.forEach((row, n) => {
      if (Math.abs(row.x - x) < Math.abs(rows[best].x - x)) best = n;
    });
    show(best);
  };
  chart.addEventListener("pointermove", nearest);
  chart.addEventListener("pointerdown", nearest);
  // A finger that is lifted leaves at once: the values stay until another place is touched.
  chart.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") hide();
  });
  // It scrolls.
  chart.addEventListener("pointercancel", hide);
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step) return;
    event.preventDefault();
    show(Math.min(rows.length - 1, Math.max(0, at + step)));
  });
}

// Sorts a table by the column whose heading is clicked, and the other way round at the second click.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  // `1,234`, `✗ 12.5`, `−3`, and with a unit: `100k`, `1.5 s`, `64 MiB`.
  const units = { k: 1e3, K: 1e3, M: 1e6, m: 1e6, G: 1e9, g: 1e9, us: 1e-3, µs: 1e-3, s: 1e3, min: 6e4 };
  ["k", "M", "G", "T"].forEach((prefix, n) => {
    for (const unit of [prefix + "B", prefix.toUpperCase() + "B", prefix.toUpperCase() + "iB"]) units[unit] = 1024 ** (n + 1);
  });
  const number = (text) => {
    const found = /(−|-)?([0-9][0-9,_]*(?:\.[0-9]+)?)\s*([a-zA-Zµ]*)/.exec(text);
    if (!found) return undefined;
    const value = parseFloat(found[2].replace(/[,_]/g, "")) * (units[found[3]] ?? 1);
    return found[1] ? -value : value;
  };
  heads.forEach((head, n) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      const sign = down ? -1 : 1;
      const text = (row) => row.cells[n].textContent;
      const rows = [...body.rows];
      rows.sort((a, b) => {
        if (!head.classList.contains("number")) {
          return sign * text(a).localeCompare(text(b), undefined, { numeric: true });
        }
        const [x, y] = [number(text(a)), number(text(b))];
        // What has no figure stays at the end.
        const [has, others] = [Number.isFinite(x), Number.isFinite(y)];
        return has && others ? sign * (x - y) : others - has;
      });
      body.append(...rows);
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
  });
}
