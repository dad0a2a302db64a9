import { type ListenerFiles, listenerFiles } from "@parley/shared/tls/listener-tls";
import type { VoiceConfig } from "../../config.ts";

/** @throws ConfigError when carriers' WebSockets would be plain beyond loopback and no setting says that TLS protects them */
export function mediaTls(config: VoiceConfig): ListenerFiles | null {
  if (config.PARLEY_VOICE_LISTEN === "") return null;
  return listenerFiles(
    {
      address: config.PARLEY_VOICE_LISTEN,
      cert: config.PARLEY_VOICE_TLS_CERT,
      key: config.PARLEY_VOICE_TLS_KEY,
      insecure: config.PARLEY_INSECURE_VOICE,
    },
    {
      address: "PARLEY_VOICE_LISTEN",
      cert: "PARLEY_VOICE_TLS_CERT",
      key: "PARLEY_VOICE_TLS_KEY",
      insecure: "PARLEY_INSECURE_VOICE",
    },
  );
}
