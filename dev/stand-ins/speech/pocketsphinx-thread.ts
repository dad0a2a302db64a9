import { createDecoder, type Decoder } from "./pocketsphinx.ts";
import { answerAll } from "./thread.ts";

let decoder: Decoder | null = null;
answerAll((audio: Int16Array) => {
  decoder ??= createDecoder();
  return decoder(audio);
});
