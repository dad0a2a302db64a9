import { invalid, missing } from "../openai-api.ts";
import { readWav } from "./wav.ts";

interface TranscriptionRequest {
  /** 16,000 samples a second. */
  audio: Int16Array;
  format: "json" | "text";
}

/** Parses the form of `POST /v1/audio/transcriptions`. @throws ApiError 400 */
export async function readTranscriptionRequest(request: Request): Promise<TranscriptionRequest> {
  const form = await request.formData().catch(() => null);
  if (!form) throw missing("file", "Send the audio as multipart/form-data.");
  const file = form.get("file");
  if (!(file instanceof Blob)) throw missing("file", "Send a WAV file.");
  const format = form.get("response_format") ?? "json";
  if (format !== "json" && format !== "text") throw invalid("response_format", "Use json or text.");
  const audio = readWav(new Uint8Array(await file.arrayBuffer()));
  if (!audio) throw invalid("file", "Send a WAV file with one channel of 16-bit PCM, 16,000 samples a second.");
  return { audio, format };
}
