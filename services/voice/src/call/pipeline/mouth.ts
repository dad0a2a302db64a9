import { durationMs, FRAME_SAMPLES, type Pcm } from "../../audio/pcm.ts";
import type { SpeakOptions, SpokenEvent, TextToSpeech } from "../../speech/tts.ts";
import type { Leg } from "../../transport/leg.ts";
import { heardText, type Spoken, type Timing } from "../../turn/heard.ts";
import { sentenceCutter } from "../../turn/sentences.ts";
import { SPEAKABLE, type Speakable, speakable } from "../../turn/speakable.ts";

/** Speaks the agent's replies on a leg, one at a time, and knows how much of each was heard. */
export interface Mouth {
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
  /** Ends the reply at any point. Returns what was heard of it, as the model wrote it. */
  stop(): string;
  /** What has been heard of the reply so far, as the model wrote it. */
  heard(): string;
  /** The leg has played up to a mark. */
  reached(mark: string): void;
}

export interface MouthEvents {
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

export interface MouthOptions {
  leg: Leg;
  voice: TextToSpeech;
  /** The voice's options at this moment. */
  options(): Omit<SpeakOptions, "signal" | "room">;
  /** Resolves when the leg has room for more audio, or the signal aborts; null if it has. */
  room: NonNullable<SpeakOptions["room"]>;
  events: MouthEvents;
}

interface Utterance {
  reply: number;
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
  mark: string;
  abort: AbortController;
  say(text: string): void;
  flush(): void;
  end(): void;
  spoken: Spoken & { timings: Timing[] };
  /** The samples that the leg had played when this began. */
  from: number;
}

export function mouth({ leg, voice, options, room, events }: MouthOptions): Mouth {
  let current: Utterance | null = null;
  let takes = 0;

  function begin(utterance: Utterance): Take {
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
    const voiced = voice.speak({ ...options(), room, signal: abort.signal }, (event) => {
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
    const rest = utterance.text.spoken().slice(utterance.heardBefore);
    if (!SPEAKABLE.test(rest)) {
      if (!utterance.isWhole) return;
      utterance.heardBefore += rest.length;
      events.sound(utterance.reply, 0);
      return void events.played(utterance.reply);
    }
    utterance.take = begin(utterance);
    utterance.take.say(rest);
    if (utterance.isWhole) utterance.take.end();
  }

  function speak(utterance: Utterance, words: string): void {
    if (words === "" || utterance.isHeld) return;
    if (utterance.take) utterance.take.say(words);
    else speakOn(utterance);
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
      current = { reply, text: speakable(), isWhole: false, isHeld: false, heardBefore: 0, take: null };
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
      current.take.say(rest);
      current.take.end();
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
      events.sound(current.reply, 0);
      events.played(current.reply);
    },
  };
}
