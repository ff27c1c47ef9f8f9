// The drawing board: regions below, points and proofs above; mouse, touch and keyboard.

import { colours, prepared } from "./charts.js";

const RADIUS = 5.5;
export const SHAPES = [
  (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`,
  (r) => `M${-0.9 * r},${-0.9 * r}h${1.8 * r}v${1.8 * r}h${-1.8 * r}z`,
  (r) => `M0,${-1.2 * r}L${1.1 * r},${0.8 * r}H${-1.1 * r}z`,
  (r) => `M0,${-1.3 * r}L${1.2 * r},0L0,${1.3 * r}L${-1.2 * r},0z`,
  (r) => `M0,${1.2 * r}L${1.1 * r},${-0.8 * r}H${-1.1 * r}z`,
];

const channels = (colour) => {
  const hex = colour.replace("#", ""), full = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
  return [0, 2, 4].map((i) => parseInt(full.slice(i, i + 2), 16));
};
const mixed = (a, b, t) => a.map((v, i) => Math.round(v * (1 - t) + b[i] * t));
const packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

export class Board {
  constructor(root, state, listener) {
    this.root = root;
    this.state = state;
    this.listener = listener; // changed(), say(text), looked()
    this.regions = root.querySelector("#regions");
    this.overlay = root.querySelector("#overlay");
    this.tool = "put";
    this.colour = 1;
    this.selected = -1;
    this.hover = -1;
    this.cross = null;
    this.shows = { proof: true, distances: false, margin: true, ambiguous: true, errors: true };
    this.fit = null;
    this.verdict = null;
    this.frame = 0;
    this.mouse();
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("focus", () => { if (root.matches(":focus-visible") && !this.cross) { this.cross = [0, 0]; this.draw(); } });
    root.addEventListener("blur", () => { this.cross = null; this.draw(); });
  }

  // Where things are

  size() { return (this.width = this.root.clientWidth); }
  at([x, y]) { const s = this.width, r = this.state.limits.extent; return [((x + r) / (2 * r)) * s, ((r - y) / (2 * r)) * s]; }
  place(event) {
    const box = this.root.getBoundingClientRect(), r = this.state.limits.extent;
    return [((event.clientX - box.left - this.root.clientLeft) / this.root.clientWidth) * 2 * r - r, r - ((event.clientY - box.top - this.root.clientTop) / this.root.clientHeight) * 2 * r];
  }
  near([x, y], radius) {
    const unit = (2 * this.state.limits.extent) / this.size();
    let found = -1, least = (radius * unit) ** 2;
    this.state.points.forEach((p, i) => { const d = (p[0] - x) ** 2 + (p[1] - y) ** 2; if (d < least) { least = d; found = i; } });
    return found;
  }

  // Mouse and touch

  mouse() {
    const { root } = this;
    let dragged = -1, moved = false, painting = false;
    root.addEventListener("pointerdown", (event) => {
      if (event.button === 2) return;
      root.setPointerCapture(event.pointerId);
      const place = this.place(event), hit = this.near(place, event.pointerType === "touch" ? 20 : 12);
      this.cross = null;
      moved = false;
      this.state.keep();
      if (this.tool === "erase") { painting = true; this.erase(place); return; }
      if (hit >= 0) { dragged = hit; this.select(hit); return; }
      if (this.tool === "spray") { painting = true; this.spray(place); return; }
      if (this.state.add(...place, this.colour)) { dragged = this.state.points.length - 1; this.select(dragged); this.listener.changed(); }
      else this.listener.say(`The board holds ${this.state.limits.points} points at most.`);
    });
    root.addEventListener("pointermove", (event) => {
      const place = this.place(event);
      if (painting) { if (this.tool === "erase") this.erase(place); else if (Math.random() < 0.5) this.spray(place, 3); return; }
      if (dragged < 0) {
        const over = this.near(place, 12);
        if (over !== this.hover) { this.hover = over; root.style.cursor = over >= 0 ? "grab" : "crosshair"; this.listener.looked(); }
        return;
      }
      moved = true;
      this.state.move(dragged, ...place);
      this.listener.changed();
      this.listener.looked();
    });
    const end = () => {
      if (dragged >= 0 && !moved && this.state.past.length && this.state.past.at(-1)[0].length === this.state.points.length) this.state.forget();
      dragged = -1; painting = false;
    };
    root.addEventListener("pointerup", end);
    root.addEventListener("pointercancel", end);
    root.addEventListener("pointerleave", () => { if (this.hover >= 0) { this.hover = -1; this.listener.looked(); } });
    root.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      const hit = this.near(this.place(event), 14);
      if (hit >= 0) { this.state.keep(); this.remove(hit); }
    });
  }

  spray([x, y], count = 8) {
    for (let i = 0; i < count; i++) {
      const angle = Math.random() * 2 * Math.PI, far = 0.45 * Math.sqrt(-2 * Math.log(1 - Math.random()));
      this.state.add(x + far * Math.cos(angle), y + far * Math.sin(angle), this.colour);
    }
    this.listener.changed();
  }

  erase(place) {
    const hit = this.near(place, 14);
    if (hit >= 0) this.remove(hit);
  }

  remove(i) {
    this.state.remove(i);
    this.selected = -1;
    this.hover = -1;
    this.listener.changed();
    this.listener.say("Point removed.");
  }

  select(i) {
    this.selected = i;
    this.listener.looked();
    this.draw();
  }

  // Keyboard

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 0.5 : 0.1;
    const way = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key];
    const { state } = this;
    if (way) this.arrow(way);
    else if (event.key === "Enter" || event.key === " ") {
      this.cross ??= [0, 0];
      state.keep();
      if (state.add(...this.cross, this.colour)) { this.selected = -1; this.listener.changed(); this.listener.say(`Point ${state.points.length} of class ${this.colour} put at ${this.listener.where(this.cross)}.`); }
    } else if (event.key === "Delete" || event.key === "Backspace") {
      if (this.selected >= 0) { state.keep(); this.remove(this.selected); }
    } else if (/^[nNpP]$/.test(event.key) && state.points.length) {
      const by = event.key.toLowerCase() === "n" ? 1 : -1, n = state.points.length;
      this.select(this.selected < 0 ? (by > 0 ? 0 : n - 1) : (this.selected + by + n) % n);
      this.cross = state.points[this.selected].slice(0, 2);
      this.listener.say(this.listener.about(this.selected));
    } else if (event.key === "Escape") this.select(-1);
    else return;
    event.preventDefault();
  }

  arrow(way) {
    const { state } = this, r = state.limits.extent;
    if (this.selected >= 0) {
      const p = state.points[this.selected];
      state.keep();
      state.move(this.selected, p[0] + way[0], p[1] + way[1]);
      this.cross = p.slice(0, 2);
      this.listener.changed();
      this.listener.looked();
      return;
    }
    const [x, y] = this.cross ?? [0, 0];
    this.cross = [Math.max(-r, Math.min(r, x + way[0])), Math.max(-r, Math.min(r, y + way[1]))].map((v) => Math.round(v * 10) / 10);
    this.draw();
  }

  // Drawing

  show(fit, verdict, frame) {
    this.fit = fit;
    this.verdict = verdict;
    this.frame = frame;
    this.paint();
    this.drawNow();
  }

  look() {
    const c = colours(), base = channels(c.board), dark = document.documentElement.dataset.theme === "dark";
    const inks = c.classes.map(channels), ratio = Math.min(2, window.devicePixelRatio || 1);
    const grey = mixed(base, channels(c.soft), 0.28);
    return {
      ramp: (levels) => {
        const table = new Uint32Array(6 * levels);
        for (let k = 1; k <= 5; k++) for (let l = 0; l < levels; l++) table[k * levels + l] = packed(mixed(base, inks[k - 1], 0.1 + (dark ? 0.27 : 0.25) * (l / (levels - 1))));
        return table;
      },
      reject: packed(grey), nobody: packed(mixed(base, channels(c.soft), 0.5)), several: packed(mixed(base, channels(c.ink), 0.45)),
      ratio, pitch: Math.round(9 * ratio), edge: channels(c.ink), ambiguous: this.shows.ambiguous,
    };
  }

  paint() {
    const ratio = Math.min(2, window.devicePixelRatio || 1), W = Math.max(1, Math.min(1000, Math.round(this.size() * ratio)));
    const { regions, fit } = this;
    if (regions.width !== W) { regions.width = W; regions.height = W; }
    const pen = regions.getContext("2d");
    pen.clearRect(0, 0, W, W);
    if (!fit) return;
    const image = pen.createImageData(W, W);
    fit.paint(image, Math.min(this.frame, fit.count - 1), this.look());
    pen.putImageData(image, 0, 0);
  }

  /** Draw the overlay before the next picture of the screen, however often it is asked for. */
  draw() {
    this.due ??= requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    if (this.due) cancelAnimationFrame(this.due);
    this.due = null;
    const { pen } = prepared(this.overlay), look = colours(), s = this.size();
    this.axes(pen, look, s);
    if (this.fit && this.shows.margin) this.margins(pen, look, s);
    if (this.shows.proof) this.proof(pen, look, s);
    const fresh = this.fit && this.fit.n === this.state.points.length;
    const decided = fresh ? this.fit.decisions(this.frame) : null;
    if (fresh && this.shows.distances) this.distances(pen, look, this.state.points.map((_, i) => i), 0.45);
    const shown = this.selected >= 0 ? this.selected : this.hover;
    if (fresh && shown >= 0 && shown < this.fit.n) this.distances(pen, look, [shown], 1);
    this.points(pen, look, decided);
    if (fresh && this.frame > 0) this.corrected(pen, look);
    this.marks(pen, look);
  }

  axes(pen, look, s) {
    const r = this.state.limits.extent;
    pen.strokeStyle = look.soft;
    for (let v = -r + 1; v < r; v++) {
      pen.globalAlpha = v === 0 ? 0.4 : 0.1;
      const [x, y] = this.at([v, v]);
      pen.beginPath(); pen.moveTo(x, 0); pen.lineTo(x, s); pen.moveTo(0, y); pen.lineTo(s, y); pen.stroke();
    }
    pen.globalAlpha = 0.75; pen.fillStyle = look.soft; pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "left"; pen.fillText("x", s - 13, s / 2 - 6); pen.fillText("y", s / 2 + 6, 14);
    for (const v of [-4, -2, 2, 4]) {
      const [x, y] = this.at([v, v]);
      pen.textAlign = "center"; pen.fillText(String(v).replace("-", "−"), x, s / 2 + 14);
      pen.textAlign = "right"; pen.fillText(String(v).replace("-", "−"), s / 2 - 6, y + 4);
    }
    pen.globalAlpha = 1;
  }

  /** {x : w0 + w·x = level} across the board. */
  line(pen, w, level = 0) {
    const r = this.state.limits.extent, size = Math.hypot(w[1], w[2]);
    if (!(size > 0)) return;
    const d = (level - w[0]) / size, n = [w[1] / size, w[2] / size], far = 4 * r;
    if (Math.abs(d) > 3 * r) return;
    const a = this.at([n[0] * d - n[1] * far, n[1] * d + n[0] * far]), b = this.at([n[0] * d + n[1] * far, n[1] * d - n[0] * far]);
    pen.beginPath(); pen.moveTo(...a); pen.lineTo(...b); pen.stroke();
  }

  margins(pen, look) {
    const { fit } = this, b = fit.sent.margin;
    if (!fit.straight || fit.D !== 3) return;
    pen.strokeStyle = look.ink;
    const A = fit.at(this.frame), w = (j) => [A[j], A[fit.q + j], A[2 * fit.q + j]];
    if (fit.q === 1 && b > 0) { pen.globalAlpha = 0.55; pen.setLineDash([6, 5]); this.line(pen, w(0), b); this.line(pen, w(0), -b); }
    if (fit.claim && fit.q <= 10) { pen.globalAlpha = 0.35; pen.setLineDash([2, 4]); for (let j = 0; j < fit.q; j++) this.line(pen, w(j), fit.claim.threshold[j]); }
    pen.setLineDash([]); pen.globalAlpha = 1;
  }

  proof(pen, look) {
    const { verdict } = this, { points } = this.state;
    if (!verdict) return;
    if (verdict.hyperplane && verdict.verdict === "separable") {
      const w = verdict.hyperplane, street = verdict.margin * Math.hypot(w[1], w[2]);
      pen.strokeStyle = look.good; pen.lineWidth = 1.5;
      pen.globalAlpha = 0.9; pen.setLineDash([10, 5]); this.line(pen, w);
      pen.globalAlpha = 0.5; pen.setLineDash([2, 4]); this.line(pen, w, street); this.line(pen, w, -street);
      pen.setLineDash([]); pen.globalAlpha = 1;
    }
    const witness = verdict.witness;
    if (!witness || witness.rows.some((i) => i >= points.length)) return;
    pen.strokeStyle = look.bad;
    const rows = witness.rows.map((i) => points[i]);
    if (witness.point) {
      const middle = this.at(witness.point), sides = [...new Set(rows.map((p) => p[2]))];
      pen.lineWidth = 1.6; pen.globalAlpha = 0.8;
      for (const c of sides) { // the hull of each class's part of the proof: both hold the same place
        const corners = rows.filter((p) => p[2] === c).map((p) => this.at(p)).sort((a, b) => Math.atan2(a[1] - middle[1], a[0] - middle[0]) - Math.atan2(b[1] - middle[1], b[0] - middle[0]));
        pen.beginPath(); corners.forEach((p, i) => (i ? pen.lineTo(...p) : pen.moveTo(...p))); pen.closePath(); pen.stroke();
      }
      pen.globalAlpha = 1; pen.lineWidth = 3;
      const [x, y] = middle;
      pen.beginPath(); pen.moveTo(x - 6, y - 6); pen.lineTo(x + 6, y + 6); pen.moveTo(x + 6, y - 6); pen.lineTo(x - 6, y + 6); pen.stroke();
    }
    pen.lineWidth = 2;
    rows.forEach((p) => { pen.beginPath(); pen.arc(...this.at(p), RADIUS + 5, 0, 7); pen.stroke(); });
    pen.lineWidth = 1;
  }

  distances(pen, look, rows, alpha) {
    pen.strokeStyle = look.ink; pen.globalAlpha = alpha; pen.lineWidth = 1.2;
    for (const i of rows) {
      const p = this.state.points[i], found = this.fit.distance(this.frame, p[0], p[1]);
      if (!found) continue;
      pen.beginPath(); pen.moveTo(...this.at(p)); pen.lineTo(...this.at(found.foot)); pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  points(pen, look, decided) {
    const { points } = this.state, many = points.length > 400, stamps = this.stamps(look, many), half = stamps.size / 2;
    points.forEach((p, i) => {
      const [x, y] = this.at(p), wrong = this.shows.errors && decided && decided[i] !== this.fit.own[i];
      const kind = decided && this.fit.isTest[i] ? (wrong ? "wrongTest" : "test") : wrong ? "wrong" : "right";
      pen.drawImage(stamps[kind][p[2] - 1], x - half, y - half, stamps.size, stamps.size);
    });
  }

  /** Each marker drawn once, to be stamped: a thousand paths are slow, a thousand stamps are not. */
  stamps(look, many) {
    const ratio = window.devicePixelRatio || 1, key = [look.classes, look.ink, look.card, many, ratio].join();
    if (this.stamped?.key === key) return this.stamped;
    const r = many ? RADIUS * 0.72 : RADIUS, size = Math.ceil(4 * r);
    const make = (ink, width, hollow = false) => SHAPES.map((shape, k) => {
      const canvas = new OffscreenCanvas(size * ratio, size * ratio), pen = canvas.getContext("2d"), path = new Path2D(shape(r));
      pen.setTransform(ratio, 0, 0, ratio, (size * ratio) / 2, (size * ratio) / 2);
      pen.fillStyle = look.classes[k]; pen.fill(path);
      pen.strokeStyle = ink; pen.lineWidth = width; pen.stroke(path);
      if (hollow) { pen.fillStyle = look.card; pen.fill(new Path2D(shape(0.5 * r))); }
      return canvas;
    });
    const light = many ? 0.8 : 1.4;
    this.stamped = { key, size, right: make(look.card, light), wrong: make(look.ink, 2.2), test: make(look.card, light, true), wrongTest: make(look.ink, 2.2, true) };
    return this.stamped;
  }

  corrected(pen, look) {
    const row = this.fit.sent.frames.row[this.frame];
    if (row < 0 || row >= this.state.points.length || this.frame === this.fit.count - 1) return;
    pen.strokeStyle = look.accent; pen.lineWidth = 3;
    pen.beginPath(); pen.arc(...this.at(this.state.points[row]), RADIUS + 7, 0, 7); pen.stroke();
    pen.lineWidth = 1;
  }

  marks(pen, look) {
    if (this.selected >= 0 && this.selected < this.state.points.length) {
      pen.strokeStyle = look.ink; pen.lineWidth = 2; pen.setLineDash([4, 3]);
      pen.beginPath(); pen.arc(...this.at(this.state.points[this.selected]), RADIUS + 9, 0, 7); pen.stroke();
      pen.setLineDash([]);
    } else if (this.cross) {
      const [x, y] = this.at(this.cross);
      pen.strokeStyle = look.ink; pen.lineWidth = 2;
      pen.beginPath(); pen.moveTo(x - 10, y); pen.lineTo(x + 10, y); pen.moveTo(x, y - 10); pen.lineTo(x, y + 10); pen.stroke();
    }
    pen.lineWidth = 1;
  }
}
