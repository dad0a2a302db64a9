import { CString, dlopen, FFIType, type Pointer, ptr } from "bun:ffi";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Debian's model of American English. */
const MODEL = "/usr/share/pocketsphinx/model/en-us";

/** The words in audio of 16,000 samples a second. Blocks for about a tenth of the time that the audio lasts. */
export type Decoder = (audio: Int16Array) => string;

/** What to do if PocketSphinx or its model is missing; null if both are installed. */
export function missingPocketSphinx(): string | null {
  if (existsSync(join(MODEL, "en-us.lm.bin")) && open()) return null;
  return "The stand-in's speech-to-text needs PocketSphinx: on Debian or Ubuntu, run apt-get install libpocketsphinx3 pocketsphinx-en-us.";
}

/** @throws when PocketSphinx is missing or refuses its model */
export function createDecoder(): Decoder {
  const library = open();
  if (!library) throw new Error("PocketSphinx is missing");
  const { sphinx, base } = library;
  const settings = {
    "-hmm": join(MODEL, "en-us"),
    "-lm": join(MODEL, "en-us.lm.bin"),
    "-dict": join(MODEL, "cmudict-en-us.dict"),
    "-logfn": "/dev/null",
    // Half the time for the same text.
    "-maxhmmpf": "3000",
    // Of a phone's sound, it takes away what its model needs: of twelve questions by flite, 37 % of the words are wrong instead of 48 %.
    "-remove_noise": "no",
  };
  const args = ["pocketsphinx", ...Object.entries(settings).flat()].map((text) => Buffer.from(`${text}\0`));
  const argv = BigUint64Array.from([...args.map((arg) => BigInt(ptr(arg))), 0n]);
  const config = base.cmd_ln_parse_r(null, sphinx.ps_args(), args.length, ptr(argv), 1);
  const decoder = config && sphinx.ps_init(config);
  if (!decoder) throw new Error("PocketSphinx cannot be started with its model");
  return (audio) => {
    if (audio.length === 0) return "";
    sphinx.ps_start_utt(decoder);
    // As a whole, so that what was said before makes no difference.
    sphinx.ps_process_raw(decoder, ptr(audio), audio.length, 0, 1);
    sphinx.ps_end_utt(decoder);
    return textAt(sphinx.ps_get_hyp(decoder, null));
  };
}

function textAt(address: Pointer | bigint | null): string {
  return address ? new CString(address as Pointer).toString() : "";
}

/** Null where the libraries are missing. The version in their names is that of the interface. */
function open() {
  const { i32, ptr: pointer, u64 } = FFIType;
  try {
    const base = dlopen("libsphinxbase.so.3", {
      cmd_ln_parse_r: { args: [pointer, pointer, i32, pointer, i32], returns: pointer },
    });
    const sphinx = dlopen("libpocketsphinx.so.3", {
      ps_args: { args: [], returns: pointer },
      ps_init: { args: [pointer], returns: pointer },
      ps_start_utt: { args: [pointer], returns: i32 },
      ps_process_raw: { args: [pointer, pointer, u64, i32, i32], returns: i32 },
      ps_end_utt: { args: [pointer], returns: i32 },
      ps_get_hyp: { args: [pointer, pointer], returns: pointer },
    });
    return { base: base.symbols, sphinx: sphinx.symbols };
  } catch {
    return null;
  }
}
