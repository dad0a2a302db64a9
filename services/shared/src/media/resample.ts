/** Input samples on either side that the filter looks at, if the rate does not fall. */
const REACH = 12;
/** The share of the narrower band that passes; in the rest, the filter falls off. */
const PASSED = 0.92;

/**
 * Converts a stream of audio from one sample rate to another, piece by piece: it remembers the end of a piece for the beginning of the
 * next. A windowed-sinc filter keeps frequencies out that the lower rate cannot hold. Delays by at most 3 ms.
 */
export function resampler(fromHz: number, toHz: number): (audio: Int16Array) => Int16Array {
  if (fromHz === toHz) return (audio) => audio;
  const divisor = greatestCommonDivisor(fromHz, toHz);
  const up = toHz / divisor;
  const down = fromHz / divisor;
  const phases = filterPhases(up, down);
  const taps = (phases[0] as Float32Array).length;
  let past: Int16Array = new Int16Array(taps - 1);
  /** The position of the next output, in steps of 1 / `up` input samples from the first sample of the next piece. */
  let next = 0;

  return (audio) => {
    const input = new Int16Array(past.length + audio.length);
    input.set(past);
    input.set(audio, past.length);
    const output = new Int16Array(Math.max(0, Math.ceil((audio.length * up - next) / down)));
    for (let at = 0; at < output.length; at++, next += down) {
      output[at] = filtered(input, past.length + Math.floor(next / up), phases[next % up] as Float32Array);
    }
    next -= audio.length * up;
    past = input.slice(input.length - past.length);
    return output;
  };
}

function filtered(input: Int16Array, newest: number, taps: Float32Array): number {
  let sum = 0;
  for (let tap = 0; tap < taps.length; tap++) sum += (taps[tap] as number) * (input[newest - tap] as number);
  return Math.max(-32_768, Math.min(32_767, Math.round(sum)));
}

/** The filter's taps for each position of an output between two input samples. */
function filterPhases(up: number, down: number): Float32Array[] {
  const taps = 2 * Math.ceil(REACH * Math.max(1, down / up));
  const length = taps * up;
  const cutoff = (0.5 * PASSED) / Math.max(up, down);
  return Array.from({ length: up }, (_, phase) => {
    const values = Float32Array.from({ length: taps }, (_, tap) => {
      const at = phase + tap * up;
      return sinc(2 * cutoff * (at - length / 2)) * blackman(at / length);
    });
    // Every phase passes a constant unchanged, or silence would hum.
    const sum = values.reduce((total, value) => total + value, 0);
    return values.map((value) => value / sum);
  });
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function blackman(x: number): number {
  return 0.42 - 0.5 * Math.cos(2 * Math.PI * x) + 0.08 * Math.cos(4 * Math.PI * x);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
