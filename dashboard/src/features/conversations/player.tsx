import { type RefObject, useEffect, useState } from "react";
import type { Conversation } from "./queries.ts";

export interface Playback {
  /** The position in the recording, in seconds; null before it was played. */
  at: number | null;
  seek(seconds: number): void;
}

const OWN = /^\/v1\/public\/conversations\/[^/]+\/recording$/;

/**
 * The recording's address, if there is one. Our own is asked for at the origin of this page, whatever name the gateway has elsewhere,
 * so that the browser sends the session's cookie.
 */
export function recordingOf({ conversation_metadata }: Conversation): string | null {
  const address = conversation_metadata.conversation_recording_url;
  const parsed = typeof address === "string" ? URL.parse(address) : null;
  if (!parsed) return null;
  return OWN.test(parsed.pathname) ? parsed.pathname : parsed.href;
}

/** Follows a recording that is played. */
export function usePlayback(audio: RefObject<HTMLAudioElement | null>): Playback {
  const [at, setAt] = useState<number | null>(null);
  useEffect(() => {
    const element = audio.current;
    if (!element) return;
    const follow = () => setAt(element.currentTime);
    element.addEventListener("timeupdate", follow);
    return () => element.removeEventListener("timeupdate", follow);
  });
  return {
    at,
    seek: (seconds) => {
      const element = audio.current;
      if (!element) return;
      element.currentTime = seconds;
      void element.play().catch(() => {});
    },
  };
}

export function Player({ ref, address }: { ref: RefObject<HTMLAudioElement | null>; address: string }) {
  return (
    // biome-ignore lint/a11y/useMediaCaption: the transcript below it is its caption
    <audio ref={ref} src={address} controls preload="metadata" aria-label="Recording" className="w-full" />
  );
}
