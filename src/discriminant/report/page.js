// The threshold: what becomes of recall, precision and cost where a class is decided from probability t on.
"use strict";
for (const box of document.querySelectorAll(".threshold")) {
  const part = (name) => box.querySelector(`[data-is="${name}"]`);
  const classes = JSON.parse(box.dataset.counts), [left, right, top, base] = JSON.parse(box.dataset.frame);
  const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : "–");
  const count = (number) => number.toLocaleString("en", { maximumFractionDigits: 2 });
  const show = () => {
    const [own, hits, alarms] = classes[part("class")?.value ?? 0], steps = hits.length - 1, i = Number(part("at").value);
    const cost = hits.map((hit, j) => Number(part("miss").value) * (own - hit) + Number(part("alarm").value) * alarms[j]);
    const most = Math.max(...cost) || 1, best = cost.indexOf(Math.min(...cost)), x = (j) => left + (j / steps) * (right - left);
    const curve = (name, values) => part(name).setAttribute("points", values
      .map((v, j) => (Number.isFinite(v) ? `${x(j).toFixed(1)},${(base - v * (base - top)).toFixed(1)}` : "")).join(" "));
    const precision = hits.map((hit, j) => hit / (hit + alarms[j]));
    curve("recall", hits.map((hit) => hit / own));
    curve("precision", precision);
    curve("cost", cost.map((c) => c / most));
    part("line").setAttribute("d", `M${x(i).toFixed(1)} ${top}V${base}`);
    const said = { t: (i / steps).toFixed(3), recall: percent(hits[i] / own), precision: percent(precision[i]), decided: count(hits[i] + alarms[i]),
      misses: count(own - hits[i]), alarms: count(alarms[i]), total: count(cost[i]), best: `${(best / steps).toFixed(3)} (${count(cost[best])})` };
    for (const [name, text] of Object.entries(said)) part(`said-${name}`).textContent = text;
  };
  box.addEventListener("input", show);
  show();
}
// What is folded is printed too.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((folded) => { folded.open = true; }));
