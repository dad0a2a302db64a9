import { muLaw } from "@parley/shared/media/g711";
import { spokenOnPhone } from "../speech/spoken.ts";
import { isOver, type SimulatedCall } from "./calls.ts";
import { type Script, USUAL } from "./scripts.ts";

/** The phones behind the carriers, and their calls. */
export interface Exchange {
  /** @param number E.164 */
  scriptFor(number: string): Script;
  setScript(number: string, script: Script): void;
  add(call: SimulatedCall): void;
  find(carrierCallId: string): SimulatedCall | undefined;
  calls(): SimulatedCall[];
  speak(sentence: string): Promise<Uint8Array>;
}

/** Ended calls that are remembered. */
const CALLS_MAX = 10_000;
const SENTENCES_MAX = 200;

/** @param speechUrl URL of an OpenAI audio API, for what phones say */
export function createExchange(speechUrl: string): Exchange {
  const scripts = new Map<string, Script>();
  const calls = new Map<string, SimulatedCall>();
  const spoken = new Map<string, Promise<Uint8Array>>();
  return {
    // Each call gets a script of its own, because a phone uses it up.
    scriptFor: (number) => structuredClone(scripts.get(number) ?? USUAL),
    setScript: (number, script) => void scripts.set(number, script),
    add: (call) => {
      calls.set(call.carrierCallId, call);
      for (const [id, known] of calls) {
        if (calls.size <= CALLS_MAX) break;
        if (isOver(known)) calls.delete(id);
      }
    },
    find: (id) => calls.get(id),
    calls: () => [...calls.values()],
    speak: (sentence) => {
      const known = spoken.get(sentence) ?? spokenOnPhone(speechUrl, sentence).then(muLaw.encode);
      if (spoken.size < SENTENCES_MAX) spoken.set(sentence, known);
      return known;
    },
  };
}
