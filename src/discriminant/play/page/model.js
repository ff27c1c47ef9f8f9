// A fit as the server sent it: weights of every step, φ on the points and on a grid, and how outputs become classes.
// Here z = [1, φ] A is multiplied out for one step, decoded, and painted.  The learning itself is the library's.

const BLOCK = 8; // pixels: a block whose corners agree is filled without asking again
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

export class Fit {
  constructor(sent, labels) {
    this.sent = sent;
    this.labels = labels; // class of each point, 1 … 5
    this.rule = sent.rule;
    this.K = sent.rule.classes.length;
    this.q = sent.outputs;
    this.D = sent.dimensions;
    this.straight = !sent.curved;
    this.count = sent.frames.count;
    this.side = sent.grid.side;
    this.extent = sent.grid.extent;
    this.nodes = new Float32Array(bytes(sent.grid.values));
    this.Y = new Float64Array(bytes(sent.points));
    this.weights = new Float64Array(bytes(sent.frames.weights));
    this.n = this.Y.length / this.D;
    this.own = labels.map((c) => sent.rule.classes.indexOf(c));
    this.isTest = new Uint8Array(this.n).fill(1); // left out of the learning
    for (const i of sent.learned) this.isTest[i] = 0;
    this.slopes = sent.rule.slopes ? Float64Array.from(sent.rule.slopes.flat()) : null;
    this.signs = sent.rule.signs ? Float64Array.from(sent.rule.signs.flat()) : null;
    this.claim = sent.rule.claims;
    this.sides = this.claim ? Float64Array.from(this.claim.sides.flat()) : null;
    this.scores = new Float64Array(this.K);
    this.errorCounts = null;
  }

  /** The weights (D × q, row by row) of a step. */
  at(frame) {
    const size = this.D * this.q;
    return this.weights.subarray(frame * size, (frame + 1) * size);
  }

  /** z of rows of [1, φ]. */
  product(rows, count, A) {
    const { D, q } = this;
    const z = new Float64Array(count * q);
    for (let i = 0; i < count; i++) {
      for (let j = 0; j < q; j++) {
        let sum = 0;
        for (let k = 0; k < D; k++) sum += rows[i * D + k] * A[k * q + j];
        z[i * q + j] = sum;
      }
    }
    return z;
  }

  /** Class scores from z at offset o into this.scores; hands back the winner, or −1 for a reject. */
  decide(z, o) {
    const { K, q, scores } = this;
    const rule = this.rule;
    if (rule.kind === "linear") {
      for (let k = 0; k < K; k++) {
        let sum = rule.shift[k];
        for (let j = 0; j < q; j++) sum += z[o + j] * this.slopes[j * K + k];
        scores[k] = sum;
      }
      return this.sureEnough(this.best());
    }
    const unanimous = rule.kind === "unanimous";
    for (let k = 0; k < K; k++) {
      let least = Infinity, votes = 0, total = 0;
      for (let j = 0; j < q; j++) {
        const s = this.signs[k * q + j];
        if (!s) continue;
        const g = s * (z[o + j] - rule.threshold[j]);
        least = Math.min(least, g);
        votes += g > 0 ? 1 : 0;
        total += g;
      }
      scores[k] = unanimous ? least : votes + total / (3 * (1 + Math.abs(total)));
    }
    if (!unanimous || !rule.rejects) return this.best();
    let positive = 0;
    for (let k = 0; k < K; k++) positive += scores[k] > 0 ? 1 : 0;
    return positive === 1 ? this.best() : -1;
  }

  best() {
    let at = 0;
    for (let k = 1; k < this.K; k++) if (this.scores[k] > this.scores[at]) at = k;
    return at;
  }

  /** The winner, or −1 where the posteriors (a softmax of the scores) are too uncertain. */
  sureEnough(best) {
    const cost = this.rule.reject_cost;
    if (cost === null) return best;
    let rest = 0;
    for (let k = 0; k < this.K; k++) if (k !== best) rest += Math.exp(this.scores[k] - this.scores[best]);
    return rest / (1 + rest) > cost ? -1 : best;
  }

  /** How many classes claim a point. */
  claimed(z, o) {
    const { K, q, sides } = this;
    const threshold = this.claim.threshold;
    let count = 0;
    for (let k = 0; k < K; k++) {
      let all = true;
      for (let j = 0; j < q && all; j++) {
        const s = sides[k * q + j];
        if (s && s * (z[o + j] - threshold[j]) <= 0) all = false;
      }
      if (all) count++;
    }
    return count;
  }

  /** Decisions on the points at a step: positions among the classes, −1 for a reject. */
  decisions(frame) {
    const z = this.product(this.Y, this.n, this.at(frame));
    const out = new Int8Array(this.n);
    for (let i = 0; i < this.n; i++) out[i] = this.decide(z, i * this.q);
    return out;
  }

  /** How many points are wrong: of those learned from, or of those left out for the test. */
  errors(frame, test = 0) {
    const decided = this.decisions(frame);
    let wrong = 0;
    for (let i = 0; i < this.n; i++) wrong += decided[i] === this.own[i] || this.isTest[i] !== test ? 0 : 1;
    return wrong;
  }

  /** Errors at every step; worked out once. */
  allErrors() {
    if (!this.errorCounts) this.errorCounts = Array.from({ length: this.count }, (_, f) => this.errors(f));
    return this.errorCounts;
  }

  /** Discriminants of the classes in the plane, [[w0, w1, w2] × K], where the picture is straight and the rule linear. */
  classLines(frame) {
    if (!this.straight || this.rule.kind !== "linear" || this.D !== 3) return null;
    const A = this.at(frame), lines = [];
    for (let k = 0; k < this.K; k++) {
      const w = [this.rule.shift[k], 0, 0];
      for (let i = 0; i < 3; i++) for (let j = 0; j < this.q; j++) w[i] += A[i * this.q + j] * this.slopes[j * this.K + k];
      lines.push(w);
    }
    return lines;
  }

  /** {distance, foot} of a place from the nearest boundary of the region it lies in. */
  distance(frame, x, y) {
    const lines = this.classLines(frame);
    if (!lines) return null;
    const g = lines.map((w) => w[0] + w[1] * x + w[2] * y);
    const own = g.indexOf(Math.max(...g));
    let found = null;
    for (let k = 0; k < this.K; k++) {
      if (k === own) continue;
      const a = lines[own][1] - lines[k][1], b = lines[own][2] - lines[k][2], size = Math.hypot(a, b);
      if (!(size > 0)) continue;
      const r = (g[own] - g[k]) / size;
      if (!found || r < found.distance) found = { distance: r, foot: [x - (r * a) / size, y - (r * b) / size], own, rival: k };
    }
    return found;
  }

  /** Paint the regions of a step: pixels are decided from z interpolated between grid nodes, block by block. */
  paint(image, frame, look) {
    const { width: W, height: H, data } = image, levels = 32, ramp = look.ramp(levels);
    const see = this.looker(frame, W, H), out = new Uint32Array(data.buffer), ids = new Int8Array(W * H);
    const across = Math.ceil(W / BLOCK), down = Math.ceil(H / BLOCK), mixed = new Uint8Array(across * down);
    const corner = new Int32Array((across + 1) * (down + 1)), depth = new Float32Array(corner.length);
    for (let v = 0; v <= down; v++) {
      for (let u = 0; u <= across; u++) {
        const at = v * (across + 1) + u;
        corner[at] = see(Math.min(W - 1, u * BLOCK), Math.min(H - 1, v * BLOCK));
        depth[at] = see.depth;
      }
    }
    const colour = (code, level, px, py) => {
      const id = (code & 15) - 1, claims = code >> 4;
      if (claims !== 1 && look.ambiguous) {
        const stripe = claims === 0 ? (px + py) % look.pitch : (px - py + 4096 * look.pitch) % look.pitch;
        if (stripe < look.pitch * 0.3) return claims === 0 ? look.nobody : look.several;
      }
      return id < 0 ? look.reject : ramp[this.rule.classes[id] * levels + Math.floor(level * (levels - 0.01))];
    };
    for (let v = 0; v < down; v++) {
      for (let u = 0; u < across; u++) {
        const a = v * (across + 1) + u, b = a + 1, c = a + across + 1, d = c + 1, code = corner[a];
        const same = code === corner[b] && code === corner[c] && code === corner[d];
        if (!same) mixed[v * across + u] = 1;
        const right = Math.min(W, (u + 1) * BLOCK), bottom = Math.min(H, (v + 1) * BLOCK);
        for (let py = v * BLOCK; py < bottom; py++) {
          const fy = (py - v * BLOCK) / BLOCK, l = depth[a] * (1 - fy) + depth[c] * fy, r = depth[b] * (1 - fy) + depth[d] * fy;
          for (let px = u * BLOCK; px < right; px++) {
            const p = py * W + px;
            if (same) {
              ids[p] = (code & 15) - 1;
              out[p] = colour(code, l + ((r - l) * (px - u * BLOCK)) / BLOCK, px, py);
            } else {
              const here = see(px, py);
              ids[p] = (here & 15) - 1;
              out[p] = colour(here, see.depth, px, py);
            }
          }
        }
      }
    }
    edges(ids, out, W, H, mixed, across, down, look);
  }

  /** A function of a pixel that decides it: 1 + class (0: reject) + 16 · claims, and leaves in .depth how clearly. */
  looker(frame, W, H) {
    const { side, q } = this, grid = this.product(this.nodes, side * side, this.at(frame)), z = new Float64Array(q), scale = this.gapScale(frame);
    const see = (px, py) => {
      const gy = ((H - 0.5 - py) / H) * (side - 1), y0 = Math.min(side - 2, Math.floor(gy)), fy = gy - y0;
      const gx = ((px + 0.5) / W) * (side - 1), x0 = Math.min(side - 2, Math.floor(gx)), fx = gx - x0;
      const low = (y0 * side + x0) * q, high = low + side * q;
      for (let j = 0; j < q; j++) z[j] = (grid[low + j] * (1 - fx) + grid[low + q + j] * fx) * (1 - fy) + (grid[high + j] * (1 - fx) + grid[high + q + j] * fx) * fy;
      const id = this.decide(z, 0);
      see.depth = 1;
      if (id >= 0) { const gap = this.lead(id); see.depth = gap / (gap + scale) || 0; }
      return id + 1 + 16 * (this.claim ? this.claimed(z, 0) : 1);
    };
    return see;
  }

  /** How far the winner's score is above the second's. */
  lead(id) {
    let second = -Infinity;
    for (let k = 0; k < this.K; k++) if (k !== id && this.scores[k] > second) second = this.scores[k];
    return this.scores[id] - second;
  }

  /** A typical lead of the winner over the second on the points: what the depth of colour is measured by. */
  gapScale(frame) {
    const z = this.product(this.Y, this.n, this.at(frame));
    let sum = 0;
    for (let i = 0; i < this.n; i++) {
      const id = this.decide(z, i * this.q);
      if (id >= 0) sum += this.lead(id);
    }
    return sum / Math.max(1, this.n) || 1;
  }
}

/** Draw the boundaries: the more pixels of another class around, the nearer the boundary, so that lines are smooth. */
function edges(ids, out, W, H, mixed, across, down, look) {
  const [r, g, b] = look.edge, around = [], radius = look.ratio > 1.3 ? 3 : 2, round = radius * radius + 1;
  for (let y = -radius; y <= radius; y++) for (let x = -radius; x <= radius; x++) if ((x || y) && x * x + y * y <= round) around.push(y * W + x);
  for (let v = 0; v < down; v++) {
    for (let u = 0; u < across; u++) {
      let near = 0;
      for (let y = Math.max(0, v - 1); y <= Math.min(down - 1, v + 1); y++) for (let x = Math.max(0, u - 1); x <= Math.min(across - 1, u + 1); x++) near |= mixed[y * across + x];
      if (!near) continue;
      for (let py = v * BLOCK; py < Math.min(H, (v + 1) * BLOCK); py++) {
        for (let px = u * BLOCK; px < Math.min(W, (u + 1) * BLOCK); px++) {
          // At the rim the pixel next to it is looked at in its place.
          const p = py * W + px, o = Math.max(radius, Math.min(H - 1 - radius, py)) * W + Math.max(radius, Math.min(W - 1 - radius, px)), own = ids[o];
          let other = 0;
          for (const step of around) other += ids[o + step] !== own ? 1 : 0;
          if (!other) continue;
          const t = Math.min(1, Math.max(0, (other / around.length) * 2.6 - 0.3)), s = 1 - t, c = out[p];
          out[p] = ((255 << 24) | ((((c >> 16) & 255) * s + b * t) << 16) | ((((c >> 8) & 255) * s + g * t) << 8) | ((c & 255) * s + r * t)) >>> 0;
        }
      }
    }
  }
}
