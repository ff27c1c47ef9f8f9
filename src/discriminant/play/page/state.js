// The points and the choices, with undo; as text they are the part of the address behind the #.

/** Normal deviates, the same at every visit: those of point i are always the same. */
function deviates(i) {
  const random = (k) => { let h = Math.imul(2 * i + k + 1, 0x9e3779b1); h = Math.imul(h ^ (h >>> 15), 0x85ebca6b); return ((h ^ (h >>> 13)) >>> 0) / 2 ** 32; };
  const far = Math.sqrt(-2 * Math.log(1 - random(0))), angle = 2 * Math.PI * random(1);
  return [far * Math.cos(angle), far * Math.sin(angle)];
}

export class State {
  constructor(limits) {
    this.limits = limits;
    this.points = []; // [x, y, class]
    this.choices = { method: "perceptron", basis: "none", coding: "auto", decoder: "auto", centres: 12, view: 0, split: 0 };
    this.parameters = {}; // of each method
    this.source = { name: "", title: "", story: "" }; // where the points are from; also: edited, noise, clean
    this.past = [];
    this.future = [];
  }

  /** Remember the points as they are, before they change. */
  keep() {
    this.past.push([this.points.map((p) => [...p]), this.source]);
    if (this.past.length > 100) this.past.shift();
    this.future = [];
    this.source = { ...this.source, edited: true, noise: 0 };
  }

  /** Nothing changed after all. */
  forget() { this.source = this.past.pop()[1]; }

  undo() { return this.travel(this.past, this.future); }

  redo() { return this.travel(this.future, this.past); }

  travel(from, to) {
    if (!from.length) return false;
    to.push([this.points, this.source]);
    [this.points, this.source] = from.pop();
    return true;
  }

  /** Take points from elsewhere. */
  replace(points, source) {
    this.keep();
    this.points = points;
    this.source = source;
  }

  /** Move every point by noise of this deviation from where it was without. */
  shake(noise) {
    if (!this.source.noise) {
      const { edited } = this.source;
      this.keep();
      this.source = { ...this.source, edited, clean: this.points };
    }
    const { clean } = this.source;
    this.source = { ...this.source, noise };
    this.points = clean.map(([x, y, c], i) => { const [a, b] = deviates(i); return [this.place(x + noise * a), this.place(y + noise * b), c]; });
  }

  /** What the points are, in a sentence. */
  caption() {
    const { title, story, edited, noise } = this.source;
    const from = !this.points.length ? "Nothing yet: click to put a point." : !edited ? story : title ? `${title}, changed by hand.` : "Your own points.";
    return from + (noise ? ` With noise of deviation ${+noise.toPrecision(2)}.` : "");
  }

  /** Points and choices as text for an address. */
  link() {
    const { name, edited, noise, clean } = this.source, { choices } = this, points = noise ? clean : this.points;
    const parts = { ...choices, parameters: JSON.stringify(this.parameters[choices.method] ?? {}), from: name, ...(edited ? { edited: 1 } : {}), ...(noise ? { noise } : {}) };
    // Thousandths, so that no points and signs need be written: class_x_y.class_x_y
    return String(new URLSearchParams({ ...parts, points: points.map(([x, y, c]) => `${c}_${Math.round(1000 * x)}_${Math.round(1000 * y)}`).join(".") }));
  }

  /** Take over a link; the server says what is wrong with its values, this only whether it is one. */
  follow(link, presets) {
    const parts = new URLSearchParams(link), points = parts.get("points"), method = parts.get("method");
    if (points === null || !(method in this.parameters)) return false;
    const read = points ? points.split(".").map((p) => { const [c, x, y] = p.split("_").map(Number); return [x / 1000, y / 1000, c]; }) : [];
    let given;
    try { given = JSON.parse(parts.get("parameters")); } catch { return false; }
    if (read.some((p) => !p.every(Number.isFinite)) || typeof given !== "object") return false;
    const preset = presets.find((p) => p.name === parts.get("from"));
    this.points = read;
    this.source = preset ? { name: preset.name, title: preset.title, story: preset.story, edited: parts.has("edited") } : { name: "", title: "", story: "", edited: true };
    for (const key of Object.keys(this.choices)) if (parts.has(key)) this.choices[key] = typeof this.choices[key] === "number" ? Number(parts.get(key)) : parts.get(key);
    Object.assign(this.parameters[method], given);
    const noise = Math.min(2, Number(parts.get("noise")));
    if (noise > 0) this.shake(noise);
    return true;
  }

  place(value) {
    const r = this.limits.extent;
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
