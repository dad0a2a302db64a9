import { openPhoneAudio, type PhoneAudio } from "@parley/shared/phone/audio";
import { type Dialed, dial } from "@parley/shared/phone/dial";

/** A person on the phone. */
export interface Caller extends Pick<Dialed, "ended" | "hangUp">, Pick<PhoneAudio, "say" | "close"> {}

/** Calls an agent. @param heard called with what the agent says, PHONE_HZ samples a second */
export async function startCaller(
  server: string,
  callee: string,
  heard: (frame: Int16Array) => void = () => {},
): Promise<Caller> {
  const audio = await openPhoneAudio("127.0.0.1", { heard });
  try {
    const { media, ended, hangUp } = await dial({ server, callee, media: audio.at });
    audio.connect(media);
    return { ended, hangUp, say: audio.say, close: audio.close };
  } catch (error) {
    audio.close();
    throw error;
  }
}
