// Weight space on the sphere ‖a‖ = 1: each sample is a great circle, the solution region a polygon, learning a path.

import { colours, prepared } from "./charts.js";

export class Globe {
  constructor(canvas, text) {
    this.canvas = canvas;
    this.text = text;
    this.turn = [0.35, -0.3]; // yaw and pitch
    let from = null;
    canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); from = [e.clientX, e.clientY, ...this.turn]; });
    canvas.addEventListener("pointermove", (e) => {
      if (!from || !e.buttons) return;
      this.turn = [from[2] + (e.clientX - from[0]) / 110, Math.max(-1.5, Math.min(1.5, from[3] + (e.clientY - from[1]) / 110))];
      this.redraw();
    });
    canvas.addEventListener("pointerup", () => { from = null; });
    canvas.addEventListener("keydown", (e) => {
      const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[e.key];
      if (!step) return;
      e.preventDefault();
      this.turn = [this.turn[0] + step[0], Math.max(-1.5, Math.min(1.5, this.turn[1] + step[1]))];
      this.redraw();
    });
  }

  /** (toward the viewer, right, up) of a vector in the globe's own axes. */
  seen([a, b, c]) {
    const [yaw, pitch] = this.turn;
    const cy = Math.cos(yaw), sy = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
    const z = a * cy - b * sy, x = a * sy + b * cy;
    return [z * cp + c * sp, x, -z * sp + c * cp];
  }

  draw(fit, frame, labels) {
    this.last = [fit, frame, labels];
    this.redraw();
  }

  redraw() {
    const [fit, frame, labels] = this.last ?? [];
    const globe = fit?.sent.globe;
    this.canvas.hidden = !globe;
    const { pen, width } = prepared(this.canvas), look = colours(), R = width / 2 - 6, mid = width / 2;
    this.text.textContent = globe ? this.says(globe) : !fit ? "" : fit.D < 3 && fit.sent.curved ? "Two weights only: their directions make a circle, not a globe." : "The discriminants of this method are not linear: their weights are not directions.";
    if (!globe || R < 10) return;
    const at = (v) => [mid + R * v[1], mid - R * v[2]];
    const shade = pen.createRadialGradient(mid - R * 0.4, mid - R * 0.5, R * 0.1, mid, mid, R);
    shade.addColorStop(0, look.card); shade.addColorStop(1, look.paper);
    pen.fillStyle = shade; pen.strokeStyle = look.line; pen.lineWidth = 1.5;
    pen.beginPath(); pen.arc(mid, mid, R, 0, 7); pen.fill(); pen.stroke();
    this.region(pen, globe, at, look);
    pen.lineWidth = 1; pen.globalAlpha = globe.circles.length > 80 ? 0.3 : 0.45;
    const paths = new Map(); // one path for each class: strokes are dear
    globe.circles.forEach((normal, i) => {
      const label = labels[globe.rows[i]];
      if (!paths.has(label)) paths.set(label, new Path2D());
      this.circle(paths.get(label), this.seen(normal), at);
    });
    for (const [label, path] of paths) { pen.strokeStyle = look.classes[label - 1] ?? look.soft; pen.stroke(path); }
    pen.globalAlpha = 1;
    this.path(pen, fit, frame, globe, at, look);
  }

  says(globe) {
    const space = globe.dimensions === 3 ? "All directions of the three weights." : `A slice of the ${globe.dimensions} weights.`;
    if (globe.empty) return `${space} No direction puts every sample on its side: the solution region is empty.`;
    if (globe.slice_misses) return `${space} The solution region lies outside of this slice.`;
    return `${space} In the filled region every sample is on its side.`;
  }

  circle(path, n, at) {
    // Two unit vectors across n; the part of their circle that faces the viewer is half of it.
    const size = Math.hypot(n[0], n[1], n[2]), u = [n[0] / size, n[1] / size, n[2] / size];
    const help = Math.abs(u[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
    const p = cross(u, help), l = Math.hypot(...p), a = p.map((v) => v / l), b = cross(u, a);
    const start = Math.atan2(b[0], a[0]) - Math.PI / 2; // where the circle comes to the front
    for (let i = 0; i <= 36; i++) {
      const t = start + (Math.PI * i) / 36, v = [0, 1, 2].map((k) => a[k] * Math.cos(t) + b[k] * Math.sin(t));
      if (i) path.lineTo(...at(v)); else path.moveTo(...at(v));
    }
  }

  region(pen, globe, at, look) {
    const corners = globe.corners;
    if (corners.length < 3) return;
    const outline = [];
    corners.forEach((from, i) => {
      const to = corners[(i + 1) % corners.length];
      for (let s = 0; s < 16; s++) { const v = from.map((f, k) => f * (1 - s / 16) + (to[k] * s) / 16), l = Math.hypot(...v) || 1; outline.push(this.seen(v.map((c) => c / l))); }
    });
    const front = outline.some((v) => v[0] > 0);
    pen.fillStyle = look.good; pen.strokeStyle = look.good; pen.globalAlpha = front ? 0.35 : 0.12;
    pen.beginPath();
    // What lies behind is drawn on the rim, so that a region that wraps round stays a region.
    outline.forEach((v, i) => { const l = v[0] < 0 && front ? Math.hypot(v[1], v[2]) || 1 : 1, p = at([0, v[1] / l, v[2] / l]); if (i) pen.lineTo(...p); else pen.moveTo(...p); });
    pen.closePath(); pen.fill();
    pen.globalAlpha = front ? 1 : 0.3; pen.lineWidth = 1.5; pen.stroke(); pen.globalAlpha = 1;
  }

  path(pen, fit, frame, globe, at, look) {
    const point = (f) => {
      const A = fit.at(f), a = [0, 0, 0];
      for (let i = 0; i < fit.D; i++) { let w = 0; for (let j = 0; j < fit.q; j++) w += A[i * fit.q + j] * globe.mix[j]; for (let k = 0; k < 3; k++) a[k] += w * globe.axes[i][k]; }
      const l = Math.hypot(...a);
      return l > 0 ? this.seen(a.map((v) => v / l)) : null;
    };
    let before = null;
    pen.strokeStyle = look.ink; pen.lineJoin = "round";
    for (let f = 0; f <= frame; f++) {
      const v = point(f);
      if (v && before) {
        const recent = frame - f < 30; // of a long run the last steps stand out
        pen.globalAlpha = (v[0] >= 0 ? 0.75 : 0.25) * (recent ? 1 : 0.3); pen.lineWidth = recent ? 1.4 : 0.7;
        pen.setLineDash(v[0] >= 0 ? [] : [3, 3]);
        pen.beginPath(); pen.moveTo(...at(before)); pen.lineTo(...at(v)); pen.stroke();
      }
      before = v ?? before;
    }
    pen.setLineDash([]); pen.globalAlpha = 1;
    const now = point(frame);
    if (!now) return;
    pen.fillStyle = now[0] >= 0 ? look.ink : look.card; pen.strokeStyle = look.ink; pen.lineWidth = 2;
    pen.beginPath(); pen.arc(...at(now), 5, 0, 7); pen.fill(); pen.stroke();
  }
}

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
