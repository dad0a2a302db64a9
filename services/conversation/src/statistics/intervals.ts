/** A count of a whole. */
interface Share {
  part: number;
  n: number;
}

/** What a sample of numbers is known by. */
interface Sample {
  n: number;
  mean: number;
  /** With n - 1 in the denominator. */
  variance: number;
}

/** With a confidence of 95 %. */
export interface Interval {
  low: number;
  high: number;
}

/** The 97.5 % quantile of the standard normal distribution. */
const Z = 1.959963984540054;

/**
 * The difference of two shares, b - a: Newcombe's hybrid score interval, method 10 of R. G. Newcombe, "Interval estimation for the
 * difference between independent proportions", Statistics in Medicine 17 (1998), 873-890.
 * @param a with b, each of one at least
 */
export function differenceOfShares(a: Share, b: Share): Interval {
  const [of, to] = [wilson(a), wilson(b)];
  const difference = to.share - of.share;
  return {
    low: difference - Math.hypot(to.share - to.low, of.high - of.share),
    high: difference + Math.hypot(to.high - to.share, of.share - of.low),
  };
}

/** Wilson's score interval of a share. */
function wilson({ part, n }: Share): Interval & { share: number } {
  const share = part / n;
  const middle = share + (Z * Z) / (2 * n);
  const reach = Z * Math.sqrt((share * (1 - share)) / n + (Z * Z) / (4 * n * n));
  const whole = 1 + (Z * Z) / n;
  return { share, low: (middle - reach) / whole, high: (middle + reach) / whole };
}

/**
 * The difference of two means, b - a: Welch's interval for samples of unequal variance.
 * @param a with b, each of ten at least
 */
export function differenceOfMeans(a: Sample, b: Sample): Interval {
  const [ofA, ofB] = [a.variance / a.n, b.variance / b.n];
  const difference = b.mean - a.mean;
  // Nothing varies.
  if (ofA + ofB === 0) return { low: difference, high: difference };
  const freedom = (ofA + ofB) ** 2 / (ofA ** 2 / (a.n - 1) + ofB ** 2 / (b.n - 1));
  const reach = tQuantile(freedom) * Math.sqrt(ofA + ofB);
  return { low: difference - reach, high: difference + reach };
}

/**
 * The 97.5 % quantile of Student's t distribution: expansion 26.7.5 of Abramowitz and Stegun, right to four decimals from nine degrees
 * of freedom on.
 */
export function tQuantile(freedom: number): number {
  const z2 = Z * Z;
  return (
    Z +
    (Z * (z2 + 1)) / (4 * freedom) +
    (Z * ((5 * z2 + 16) * z2 + 3)) / (96 * freedom ** 2) +
    (Z * (((3 * z2 + 19) * z2 + 17) * z2 - 15)) / (384 * freedom ** 3) +
    (Z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945)) / (92_160 * freedom ** 4)
  );
}
