import { setImmediate } from "node:timers/promises";
import { type Pcm, SAMPLES_PER_SECOND } from "../audio/pcm.ts";
import { events, murmur, type Random, random, resonator, rumble, type Source } from "./synth.ts";

type SoundName = "office" | "cafe" | "street" | "typing" | "hold";

/** The sounds that `background_audio` and tools know; `none` is not listed. */
const SOUNDS: Record<SoundName, (next: Random) => Source> = { office, cafe, street, typing, hold };

const SEED = 1;
/** Long enough that nobody notices it repeating. */
const SECONDS = 20;
/** The end fades into the beginning. */
const FADE_SECONDS = 1;
/** Root mean square: audible, but quieter than a voice. Keys are short, and would be as loud as can be. */
const LOUDNESS: Record<SoundName, number> = {
  office: 3_000,
  cafe: 3_000,
  street: 3_000,
  typing: 600,
  hold: 3_000,
};
/** Samples generated in one turn of the event loop, which also paces audio: about two milliseconds of work. */
const SLICE_SAMPLES = SAMPLES_PER_SECOND / 10;

const made = new Map<SoundName, Promise<Pcm>>();

export function isSound(name: string): name is SoundName {
  return Object.hasOwn(SOUNDS, name);
}

/** A sound to play in a loop. Each process generates it once. */
export function soundOf(name: SoundName): Promise<Pcm> {
  const known = made.get(name) ?? make(SOUNDS[name](random(SEED)), LOUDNESS[name]);
  made.set(name, known);
  return known;
}

async function make(source: Source, loudness: number): Promise<Pcm> {
  const fade = FADE_SECONDS * SAMPLES_PER_SECOND;
  const length = SECONDS * SAMPLES_PER_SECOND;
  const samples = new Float32Array(length + fade);
  for (let at = 0; at < samples.length; at++) {
    samples[at] = source();
    if (at % SLICE_SAMPLES === 0) await setImmediate();
  }
  let power = 0;
  for (let at = 0; at < length; at++) {
    const share = at < fade ? at / fade : 1;
    const end = at < fade ? (samples[length + at] ?? 0) * (1 - share) : 0;
    const sample = (samples[at] ?? 0) * share + end;
    samples[at] = sample;
    power += sample * sample;
  }
  const scale = loudness / Math.sqrt(power / length);
  return Int16Array.from(samples.subarray(0, length), (sample) => Math.max(-32_768, Math.min(32_767, sample * scale)));
}

/** Air conditioning, keyboards, and colleagues at the other end of the room. */
function office(next: Random): Source {
  const [air, hiss] = [rumble(120, next), rumble(2_500, next)];
  const voices = [murmur(next), murmur(next)];
  const keys = events(4, () => key(next), 0.03, next);
  return () => 3 * air() + 0.1 * hiss() + 0.35 * voices.reduce((sum, voice) => sum + voice(), 0) + 0.5 * keys();
}

/** Many people, and cups. */
function cafe(next: Random): Source {
  const room = rumble(500, next);
  const voices = Array.from({ length: 8 }, () => murmur(next));
  const cups = events(0.5, () => cup(next), 0.25, next);
  return () => 0.5 * room() + 0.7 * voices.reduce((sum, voice) => sum + voice(), 0) + 0.15 * cups();
}

/** Engines far away, cars that pass, and steps. */
function street(next: Random): Source {
  const [traffic, air] = [rumble(180, next), rumble(1_200, next)];
  const cars = events(0.4, () => rumble(700 + 500 * next(), next), 3, next);
  const steps = events(1.5, () => step(next), 0.12, next);
  return () => 2.5 * traffic() + 0.5 * air() + 1.2 * cars() + 0.3 * steps();
}

/** Somebody types near the telephone, with pauses. */
function typing(next: Random): Source {
  const keys = events(7, () => key(next), 0.03, next);
  let left = 0;
  let isTyping = false;
  return () => {
    if (left-- <= 0) {
      isTyping = !isTyping;
      left = Math.floor((isTyping ? 1 + 2 * next() : 0.3 + 0.7 * next()) * SAMPLES_PER_SECOND);
    }
    const heard = keys();
    return isTyping ? heard : 0;
  };
}

/** Two soft notes that rise, every four seconds. */
function hold(): Source {
  const [everySeconds, noteSeconds] = [4, 1.2];
  const tone = (hz: number, seconds: number) =>
    seconds < 0 || seconds > noteSeconds
      ? 0
      : Math.sin(2 * Math.PI * hz * seconds) * Math.min(1, seconds / 0.02) * (1 - seconds / noteSeconds) ** 2;
  let at = 0;
  return () => {
    const seconds = (at++ / SAMPLES_PER_SECOND) % everySeconds;
    return tone(440, seconds) + tone(660, seconds - 0.4);
  };
}

function key(next: Random): Source {
  const click = resonator(1_800 + 1_500 * next(), 900);
  const loudness = 0.4 + 0.6 * next();
  return () => loudness * click(2 * next() - 1);
}

function step(next: Random): Source {
  const sole = resonator(250 + 200 * next(), 300);
  return () => sole(2 * next() - 1);
}

function cup(next: Random): Source {
  const tones = [2_300 + 900 * next(), 3_900 + 1_200 * next(), 5_600];
  let at = 0;
  return () => {
    at++;
    return tones.reduce((sum, hz) => sum + Math.sin((2 * Math.PI * hz * at) / SAMPLES_PER_SECOND), 0) / tones.length;
  };
}
