import { obtain } from "@parley/testkit/programs/obtain";
import { type Browser, chromium } from "playwright-core";

export interface ChromiumSettings {
  /** Path of a WAV file that its microphone repeats; without one, it has no microphone. */
  microphone?: string;
  /** Path of the browser; by default the one that takes the least to run. */
  program?: string;
}

/** Debian's Chromium without a window. */
export async function startChromium({ microphone, program }: ChromiumSettings = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: program ?? (await obtain("headlessChromium")),
    args: [
      "--no-sandbox",
      // Each page's scripts run for a moment: optimizing them costs more than it saves.
      "--js-flags=--single-threaded --no-maglev --no-turbofan --max-lazy",
      "--autoplay-policy=no-user-gesture-required",
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      ...(microphone === undefined ? [] : [`--use-file-for-fake-audio-capture=${microphone}`]),
    ],
  });
}
