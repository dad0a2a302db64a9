import llm from "./data/llm.json" with { type: "json" };
import prices from "./data/llm-prices.json" with { type: "json" };
import stt from "./data/stt.json" with { type: "json" };
import cartesia from "./data/tts-cartesia.json" with { type: "json" };
import deepgram from "./data/tts-deepgram.json" with { type: "json" };
import elevenlabs from "./data/tts-elevenlabs.json" with { type: "json" };
import google from "./data/tts-google.json" with { type: "json" };
import openai from "./data/tts-openai.json" with { type: "json" };
import type { CatalogueFile } from "./file.ts";
import { EMPTY, mergeFile } from "./merge.ts";

/** The data that Parley ships, with its sources; a test checks it against the form that files must have. */
export const BUILT_IN_FILES = [llm, prices, stt, elevenlabs, cartesia, deepgram, openai, google] as CatalogueFile[];

export const BUILT_IN = BUILT_IN_FILES.reduce(mergeFile, EMPTY);
