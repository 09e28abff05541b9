// How two groups of rows differ: effect sizes, and the probability of such a difference between groups drawn at random.

const probability = (p) => (p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`);

// Lanczos' approximation.
function logGamma(x) {
  const terms = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2];
  let sum = 1.000000000190015 - 0.5395239384953e-5 / (x + 6);
  terms.forEach((term, k) => (sum += term / (x + 1 + k)));
  return (x + 0.5) * Math.log(x + 5.5) - (x + 5.5) + Math.log((2.5066282746310005 * sum) / x);
}

// The regularised incomplete beta function, by its continued fraction (Lentz).
function betaBelow(x, a, b) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaBelow(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / a;
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let found = d;
  for (let m = 1; m < 300; m++) {
    for (const term of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / (1 + term * d);
      c = 1 + term / c;
      found *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-12) break;
  }
  return front * found;
}

const studentBeyond = (t, degrees) => betaBelow(degrees / (degrees + t * t), degrees / 2, 0.5); // on both sides

// The upper incomplete gamma function, regularised: what chi squared exceeds by chance.
function chiSquaredBeyond(value, degrees) {
  const a = degrees / 2;
  const x = value / 2;
  if (x <= 0) return 1;
  const front = Math.exp(-x + a * Math.log(x) - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let k = 1; k < 1000 && term > 1e-15 * sum; k++) sum += term *= x / (a + k);
    return 1 - sum * front;
  }
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let found = d;
  for (let k = 1; k < 1000; k++) {
    b += 2;
    d = 1 / (-k * (k - a) * d + b);
    c = b - (k * (k - a)) / c;
    found *= c * d;
    if (Math.abs(c * d - 1) < 1e-12) break;
  }
  return front * found;
}

// Numbers of values, sums and sums of squares of a column of numbers in each group; rows of group 0 are in none.
function sumsOf(column, group, n) {
  const last = missingOf(column);
  const sums = Array.from({ length: n }, () => [0, 0, 0]);
  for (let i = 0; i < page.n; i++) {
    const code = column.codes[i];
    if (!group[i] || code === last) continue;
    const own = sums[group[i] - 1];
    own[0]++;
    own[1] += code;
    own[2] += code * code;
  }
  return sums;
}

// Cohen's d, and Welch's test, of group 1 against group 2.
function differenceOf(column, group) {
  const [[n, a, aa], [m, b, bb]] = sumsOf(column, group, 2);
  if (!n || !m) return null;
  const gap = a / n - b / m;
  const [inside, elsewhere] = [Math.max(aa - (a * a) / n, 0), Math.max(bb - (b * b) / m, 0)];
  const spread = Math.sqrt((inside + elsewhere) / Math.max(n + m - 2, 1));
  const [u, v] = [inside / Math.max(n - 1, 1) / n, elsewhere / Math.max(m - 1, 1) / m];
  const degrees = (u + v) ** 2 / (u ** 2 / Math.max(n - 1, 1) + v ** 2 / Math.max(m - 1, 1));
  const p = gap === 0 || n < 2 || m < 2 ? 1 : u + v === 0 ? 0 : studentBeyond(gap / Math.sqrt(u + v), degrees);
  const effect = gap === 0 ? 0 : Math.max(-99, Math.min(99, gap / spread));
  return { column, effect, p, here: valueAt(column, a / n), elsewhere: valueAt(column, b / m) };
}

// How often each category is in each group.
function countsOf(column, group, n) {
  const counts = Array.from({ length: n }, () => new Float64Array(column.names.length));
  for (let i = 0; i < page.n; i++) if (group[i]) counts[group[i] - 1][column.codes[i]]++;
  return counts;
}

// Cramer's V and the chi squared test of a category, and the level that differs most.
function associationOf(column, group) {
  const counts = countsOf(column, group, 2);
  const sizes = counts.map((own) => own.reduce((sum, count) => sum + count, 0));
  const total = sizes[0] + sizes[1];
  if (!sizes[0] || !sizes[1]) return null;
  let value = 0;
  let used = 0;
  let most = { gap: 0, k: 0 };
  column.names.forEach((_, k) => {
    const both = counts[0][k] + counts[1][k];
    if (!both) return;
    used++;
    for (const side of [0, 1]) value += (counts[side][k] - (both * sizes[side]) / total) ** 2 / ((both * sizes[side]) / total);
    const gap = Math.abs(counts[0][k] / sizes[0] - counts[1][k] / sizes[1]);
    if (gap > most.gap) most = { gap, k };
  });
  if (used < 2) return null;
  const shares = counts.map((own, side) => own[most.k] / sizes[side]);
  return { column, effect: Math.sqrt(value / total), p: chiSquaredBeyond(value, used - 1), level: most.k, shares };
}

// Holm's correction: the smallest of m counts m times, the next one m - 1 times, and none less than one before it.
function corrected(found) {
  let least = 0;
  [...found]
    .sort((a, b) => a.p - b.p)
    .forEach((one, place) => {
      least = Math.max(least, Math.min(1, one.p * (found.length - place)));
      one.p = least;
    });
  return found;
}
