import { durationMs, FRAME_SAMPLES, type Pcm } from "../../audio/pcm.ts";
import type { SpeakOptions, SpokenEvent, TextToSpeech } from "../../speech/tts.ts";
import type { Leg } from "../../transport/leg.ts";
import { heardText, type Spoken, type Timing } from "../../turn/heard.ts";
import { sentenceCutter } from "../../turn/sentences.ts";
import { SPEAKABLE, type Speakable, speakable } from "../../turn/speakable.ts";

/** Speaks the agent's replies on a leg, one at a time, and knows how much of each was heard. */
interface Mouth {
  /** A new reply; the previous one is over. */
  begin(reply: number): void;
  /** Appends words of the reply that was begun last, as the model writes them. */
  say(text: string): void;
  /** Speaks the words so far without waiting for more. */
  flush(): void;
  /** The reply has no further words. */
  end(): void;
  /** Stops speaking and drops the queue; words that still arrive are kept. */
  hold(): void;
  /** Resumes after what was heard. */
  resume(): void;
  /** Another voice speaks the words that follow, as soon as it is known. */
  change(voice: Promise<Voice>): void;
  /** Ends the reply at any point. Returns what was heard of it, as the model wrote it. */
  stop(): string;
  /** What has been heard of the reply so far, as the model wrote it. */
  heard(): string;
  /** The leg has played up to a mark. */
  reached(mark: string): void;
}

interface MouthEvents {
  /** The voice has the first words of a reply, or of what is left of it. */
  worded(reply: number): void;
  /** This many milliseconds of audio were queued. */
  sound(reply: number, ms: number): void;
  /** The first audio of a reply has arrived from the voice, or has been played. */
  firstAudio(reply: number): void;
  audible(reply: number): void;
  played(reply: number): void;
  failed(reply: number): void;
}

/** A voice with its options, which may change. */
export interface Voice {
  tts: TextToSpeech;
  options: Omit<SpeakOptions, "signal" | "room">;
}

interface MouthOptions {
  leg: Leg;
  /** The voice that begins a reply. */
  voice(): Voice;
  /** Resolves when the leg has room for more audio, or the signal aborts; null if it has. */
  room: NonNullable<SpeakOptions["room"]>;
  events: MouthEvents;
}

/** What one voice speaks of a reply. */
interface Part {
  /** Characters of what can be spoken before it. */
  from: number;
  /** Null while it is not known. */
  voice: Voice | null;
}

interface Utterance {
  reply: number;
  /** At least one, in order. */
  parts: Part[];
  /** All words so far. */
  text: Speakable;
  isWhole: boolean;
  isHeld: boolean;
  /** How many characters of what can be spoken were heard before the voice was restarted. */
  heardBefore: number;
  take: Take | null;
}

/** One request for speech; a reply makes another one whenever it resumes after a stop. */
interface Take {
  part: Part;
  mark: string;
  abort: AbortController;
  say(text: string): void;
  flush(): void;
  end(): void;
  spoken: Spoken & { timings: Timing[] };
  /** The samples that the leg had played when this began. */
  from: number;
}

export function mouth({ leg, voice, room, events }: MouthOptions): Mouth {
  let current: Utterance | null = null;
  let takes = 0;

  function begin(utterance: Utterance, part: Part, { tts, options }: Voice): Take {
    takes++;
    const abort = new AbortController();
    const spoken: Take["spoken"] = { text: "", audioMs: 0, isWhole: false, timings: [] };
    const cutter = sentenceCutter();
    const give = (sentence: string) => {
      if (sentence === "") return;
      if (spoken.text === "") events.worded(utterance.reply);
      spoken.text += sentence;
      voiced.say(sentence);
    };
    const take: Take = {
      part,
      mark: `played ${takes}`,
      abort,
      say: (text) => cutter.push(text).forEach(give),
      flush: () => give(cutter.end()),
      end: () => {
        give(cutter.end());
        voiced.end();
      },
      spoken,
      from: leg.heardSamples(),
    };
    const voiced = tts.speak({ ...options, room, signal: abort.signal }, (event) => {
      // Audio that still arrives from a stopped take is never played.
      if (current === utterance && utterance.take === take) spoke(utterance, take, event);
    });
    return take;
  }

  function spoke({ reply }: Utterance, { spoken, mark }: Take, event: SpokenEvent): void {
    switch (event.type) {
      case "audio":
        return void play(reply, spoken, event.audio);
      case "timing": {
        const characters = (spoken.timings.at(-1)?.characters ?? 0) + event.text.length;
        spoken.timings.push({ characters, endMs: event.endMs });
        return;
      }
      case "done":
        if (spoken.audioMs === 0 && SPEAKABLE.test(spoken.text)) return void events.failed(reply);
        spoken.isWhole = true;
        leg.mark(mark);
        return;
      case "failed":
        events.failed(reply);
    }
  }

  function play(reply: number, spoken: Take["spoken"], audio: Pcm): void {
    const isFirst = spoken.audioMs === 0 && current?.heardBefore === 0;
    if (isFirst) {
      events.firstAudio(reply);
      leg.play(audio.subarray(0, FRAME_SAMPLES));
      leg.mark(`audible ${reply}`);
      leg.play(audio.subarray(FRAME_SAMPLES));
    } else {
      leg.play(audio);
    }
    spoken.audioMs += durationMs(audio.length);
    events.sound(reply, durationMs(audio.length));
  }

  function speakOn(utterance: Utterance): void {
    const part = utterance.parts.findLast(({ from }) => from <= utterance.heardBefore) as Part;
    const next = after(utterance, part);
    const rest = utterance.text.spoken().slice(utterance.heardBefore, next?.from);
    if (!SPEAKABLE.test(rest)) {
      if (next) return void speakNext(utterance, next);
      if (!utterance.isWhole) return;
      utterance.heardBefore += rest.length;
      events.sound(utterance.reply, 0);
      return void events.played(utterance.reply);
    }
    if (!part.voice) return;
    utterance.take = begin(utterance, part, part.voice);
    utterance.take.say(rest);
    if (next || utterance.isWhole) utterance.take.end();
  }

  /** Everything before this part was spoken. */
  function speakNext(utterance: Utterance, part: Part): void {
    utterance.heardBefore = part.from;
    utterance.take = null;
    speakOn(utterance);
  }

  /** Whether more words may be said with this take. */
  function isOpen(utterance: Utterance, { part }: Take): boolean {
    return after(utterance, part) === undefined;
  }

  function speak(utterance: Utterance, words: string): void {
    if (words === "" || utterance.isHeld) return;
    if (!utterance.take) speakOn(utterance);
    else if (isOpen(utterance, utterance.take)) utterance.take.say(words);
  }

  /** How many characters of what can be spoken were heard. */
  function heardOf({ heardBefore, take }: Utterance): number {
    if (!take) return heardBefore;
    return heardBefore + heardText(take.spoken, durationMs(leg.heardSamples() - take.from)).length;
  }

  function silence(utterance: Utterance): void {
    utterance.heardBefore = heardOf(utterance);
    utterance.take?.abort.abort();
    utterance.take = null;
    leg.clear();
  }

  return {
    begin: (reply) => {
      const parts = [{ from: 0, voice: voice() }];
      current = { reply, parts, text: speakable(), isWhole: false, isHeld: false, heardBefore: 0, take: null };
    },
    say: (text) => {
      if (current) speak(current, current.text.push(text));
    },
    flush: () => {
      if (!current) return;
      speak(current, current.text.pause());
      current.take?.flush();
    },
    end: () => {
      if (!current || current.isWhole) return;
      current.isWhole = true;
      const rest = current.text.end();
      if (current.isHeld) return;
      if (!current.take) return speakOn(current);
      if (!isOpen(current, current.take)) return;
      current.take.say(rest);
      current.take.end();
    },
    change: (found) => {
      if (!current) return;
      const utterance = current;
      speak(utterance, utterance.text.pause());
      if (utterance.take && isOpen(utterance, utterance.take)) utterance.take.end();
      const part: Part = { from: utterance.text.spoken().length, voice: null };
      utterance.parts.push(part);
      void found.then((next) => {
        part.voice = next;
        if (current === utterance && !utterance.isHeld && !utterance.take) speakOn(utterance);
      });
    },
    hold: () => {
      if (!current || current.isHeld) return;
      silence(current);
      current.isHeld = true;
    },
    resume: () => {
      if (!current) return;
      current.isHeld = false;
      speakOn(current);
    },
    stop: () => {
      if (!current) return "";
      silence(current);
      const heard = current.text.writtenUntil(current.heardBefore);
      current = null;
      return heard.trim();
    },
    heard: () => current?.text.writtenUntil(heardOf(current)).trim() ?? "",
    reached: (mark) => {
      if (!current) return;
      if (mark === `audible ${current.reply}`) return events.audible(current.reply);
      if (mark !== current.take?.mark) return;
      const next = after(current, current.take.part);
      if (next) return speakNext(current, next);
      events.sound(current.reply, 0);
      events.played(current.reply);
    },
  };
}

function after({ parts }: Utterance, part: Part): Part | undefined {
  return parts[parts.indexOf(part) + 1];
}
