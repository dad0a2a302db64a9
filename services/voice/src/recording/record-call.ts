import type { PassingTime } from "@parley/shared/shares/passing-time";
import type { Pcm } from "../audio/pcm.ts";
import type { RecordingFile } from "./files/files.ts";
import { stereoFile } from "./stereo-file.ts";
import { timeline } from "./timeline.ts";

/** Takes the audio of both sides of a call. */
export type CallTap = Omit<CallRecorder, "end">;

/** Records a call. Never throws and never waits, so that a full disk does not disturb the call. */
export interface CallRecorder {
  /** The other party is on the line. */
  begin(): void;
  /** A frame of what the user says, in real time; dropped before the beginning and after the end. */
  heard(frame: Pcm): void;
  /** A frame that goes out, which the user hears in this many milliseconds. */
  sent(frame: Pcm, inMs: number): void;
  /** Drops what the user has not heard yet. */
  cut(): void;
  /** Settles when the recorded audio is stored, or after five seconds. Never rejects. */
  end(): Promise<void>;
}

interface RecorderOptions {
  file: RecordingFile;
  bytesMax: number;
  clock: PassingTime;
  /** Called once, when nothing more is recorded, with the reason. */
  failed(error: unknown): void;
}

/** A store that hangs must not keep a call from ending. */
const END_WITHIN_MS = 5_000;
/** How far a slow store may fall behind: a minute of a call. */
const UNWRITTEN_MAX_BYTES = 256 * 1024;

export function recorderOf({ file, bytesMax, clock, failed }: RecorderOptions): CallRecorder {
  let stereo: ReturnType<typeof stereoFile> | null = null;
  let line: ReturnType<typeof timeline> | null = null;
  let isOver = false;
  let written = 0;
  let unwritten = 0;
  let writing = Promise.resolve();

  function stop(error: unknown): void {
    if (isOver) return;
    isOver = true;
    failed(error);
  }

  function write(bytes: Uint8Array | null): void {
    if (!bytes || isOver) return;
    written += bytes.length;
    unwritten += bytes.length;
    if (written > bytesMax) stop(new Error(`the recording is larger than ${bytesMax} bytes`));
    if (unwritten > UNWRITTEN_MAX_BYTES) stop(new Error("the storage is too slow"));
    if (isOver) return;
    writing = writing
      .then(() => file.write(bytes))
      .catch(stop)
      .finally(() => {
        unwritten -= bytes.length;
      });
  }

  function safely(work: () => void): void {
    try {
      if (!isOver) work();
    } catch (error) {
      stop(error);
    }
  }

  return {
    begin: () =>
      safely(() => {
        const encoder = stereoFile();
        stereo = encoder;
        line = timeline(clock.now(), (user, agent) => write(isOver ? null : encoder.add(user, agent)));
      }),
    heard: (frame) => safely(() => line?.user(frame, clock.now())),
    sent: (frame, inMs) => safely(() => line?.agent(frame, clock.now(), inMs)),
    cut: () => safely(() => line?.cut(clock.now())),
    end: async () => {
      safely(() => {
        line?.end(clock.now());
        write(stereo?.end() ?? null);
      });
      const hadFailed = isOver;
      isOver = true;
      // Even after a failure, because the part that was written can be played.
      const closed = writing.then(file.close).catch((error) => hadFailed || failed(error));
      const late = Promise.withResolvers<void>();
      const stopWaiting = clock.after(END_WITHIN_MS, late.resolve);
      await Promise.race([closed, late.promise]);
      stopWaiting();
    },
  };
}
