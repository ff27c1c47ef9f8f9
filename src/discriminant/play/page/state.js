// The points and the choices, with undo.

export class State {
  constructor(limits) {
    this.limits = limits;
    this.points = []; // [x, y, class]
    this.choices = { method: "perceptron", basis: "none", coding: "auto", decoder: "auto", centres: 12, view: 0 };
    this.parameters = {}; // of each method
    this.past = [];
    this.future = [];
  }

  /** Remember the points as they are, before they change. */
  keep() {
    this.past.push(this.points.map((p) => [...p]));
    if (this.past.length > 100) this.past.shift();
    this.future = [];
  }

  undo() {
    if (!this.past.length) return false;
    this.future.push(this.points);
    this.points = this.past.pop();
    return true;
  }

  redo() {
    if (!this.future.length) return false;
    this.past.push(this.points);
    this.points = this.future.pop();
    return true;
  }

  place(value) {
    const r = this.limits.reach;
    return Math.round(Math.max(-r, Math.min(r, value)) * 1000) / 1000;
  }

  add(x, y, c) {
    if (this.points.length >= this.limits.points) return false;
    this.points.push([this.place(x), this.place(y), c]);
    return true;
  }

  move(i, x, y) {
    this.points[i][0] = this.place(x);
    this.points[i][1] = this.place(y);
  }

  remove(i) {
    this.points.splice(i, 1);
  }

  classes() {
    return [...new Set(this.points.map((p) => p[2]))].sort();
  }

  /** What the server is asked. */
  question() {
    return { points: this.points, ...this.choices, parameters: this.parameters[this.choices.method] ?? {} };
  }
}
