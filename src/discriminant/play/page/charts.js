// The curve of the criterion, with the errors beneath it; drag along it to scrub.

export function colours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return { ink: get("--ink"), soft: get("--soft"), line: get("--line"), accent: get("--accent"), card: get("--card"),
    board: get("--board"), good: get("--good"), bad: get("--bad"), paper: get("--paper"), classes: [1, 2, 3, 4, 5].map((c) => get(`--c${c}`)) };
}

/** A canvas of the size at which it is shown, cleared; its context in units of the page. */
export function prepared(canvas) {
  const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  const W = Math.max(1, Math.round(box.width * ratio)), H = Math.max(1, Math.round(box.height * ratio));
  if (canvas.width !== W || canvas.height !== H) { canvas.width = W; canvas.height = H; }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, box.width, box.height);
  return { pen, width: box.width, height: box.height };
}

export const short = (v) => (v === null || !Number.isFinite(v) ? "–" : v === 0 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(1) : String(+v.toPrecision(3)));

export class Curve {
  constructor(canvas, range, scrub) {
    this.canvas = canvas;
    this.range = range;
    const to = (event) => {
      const box = canvas.getBoundingClientRect();
      scrub(Math.round(Math.max(0, Math.min(1, (event.clientX - box.left - 4) / (box.width - 8))) * (this.count - 1)));
    };
    canvas.addEventListener("pointerdown", (event) => { if (this.count > 1) { canvas.setPointerCapture(event.pointerId); to(event); } });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons && this.count > 1) to(event); });
  }

  draw(fit, frame, errors) {
    this.count = fit ? fit.count : 0;
    this.canvas.classList.toggle("low", this.count < 2);
    const { pen, width, height } = prepared(this.canvas), look = colours();
    const values = fit ? fit.sent.frames.objective : [];
    const known = values.filter((v) => v !== null);
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = look.soft;
    if (this.count < 2 || known.length < 2) {
      this.range.textContent = "";
      pen.textAlign = "center";
      pen.fillText(fit ? "Solved in one step: there is no path to watch." : "", width / 2, height / 2 + 4);
      return;
    }
    const low = Math.min(...known), high = Math.max(...known), log = low > 0 && high / low > 40;
    const f = log ? Math.log : (v) => v, a = f(low), b = f(high) > a ? f(high) : a + 1;
    const x = (i) => 4 + (i / (this.count - 1)) * (width - 8), top = 8, bottom = height - 24;
    const y = (v) => bottom - ((f(v) - a) / (b - a)) * (bottom - top);
    if (errors) this.bars(pen, errors, fit.n, x, bottom, top, look);
    pen.strokeStyle = look.line;
    pen.beginPath(); pen.moveTo(4, bottom + 0.5); pen.lineTo(width - 4, bottom + 0.5); pen.stroke();
    pen.strokeStyle = look.accent; pen.lineWidth = 2; pen.lineJoin = "round";
    pen.beginPath();
    let drawn = false;
    values.forEach((v, i) => { if (v === null) { drawn = false; return; } if (drawn) pen.lineTo(x(i), y(v)); else pen.moveTo(x(i), y(v)); drawn = true; });
    pen.stroke();
    pen.strokeStyle = look.ink; pen.lineWidth = 1;
    pen.beginPath(); pen.moveTo(x(frame), top - 4); pen.lineTo(x(frame), bottom); pen.stroke();
    if (values[frame] !== null) { pen.fillStyle = look.ink; pen.beginPath(); pen.arc(x(frame), y(values[frame]), 4, 0, 7); pen.fill(); }
    this.ticks(pen, fit, x, height, look);
    this.range.textContent = `J between ${short(low)} and ${short(high)}${log ? ", log scale" : ""}; shaded: errors`;
    this.canvas.setAttribute("aria-label", `The criterion from ${short(values[0])} to ${short(values[values.length - 1])} in ${this.count} steps`);
  }

  bars(pen, errors, n, x, bottom, top, look) {
    const most = Math.max(1, ...errors);
    pen.fillStyle = look.bad;
    pen.globalAlpha = 0.16;
    pen.beginPath(); pen.moveTo(x(0), bottom);
    errors.forEach((e, i) => { const h = bottom - (e / most) * (bottom - top) * 0.8; pen.lineTo(x(i), h); if (i + 1 < errors.length) pen.lineTo(x(i + 1), h); });
    pen.lineTo(x(errors.length - 1), bottom); pen.fill();
    pen.globalAlpha = 1;
  }

  ticks(pen, fit, x, height, look) {
    const k = fit.sent.frames.k, last = this.count - 1;
    pen.fillStyle = look.soft;
    const marks = [[0, "left"], [Math.round(last / 2), "center"], [last, "right"]];
    for (const [i, align] of marks) { pen.textAlign = align; pen.fillText(`${align === "left" ? "step " : ""}${k[i]}`, x(i), height - 7); }
  }
}
