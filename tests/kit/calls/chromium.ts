import { obtain } from "@parley/shared/testing/programs";
import { type Browser, chromium } from "playwright-core";

/**
 * Debian's Chromium without a window.
 * @param microphone path of a WAV file that its microphone repeats; without one, it has no microphone
 */
export async function startChromium(microphone?: string): Promise<Browser> {
  return chromium.launch({
    executablePath: await obtain("chromium"),
    args: [
      "--no-sandbox",
      "--autoplay-policy=no-user-gesture-required",
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      ...(microphone === undefined ? [] : [`--use-file-for-fake-audio-capture=${microphone}`]),
    ],
  });
}
