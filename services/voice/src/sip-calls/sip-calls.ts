import { readFileSync } from "node:fs";
import { ConfigError } from "@parley/shared/config";
import { fewAtOnce } from "@parley/shared/shares/few-at-once";
import type { VoiceConfig } from "../config.ts";
import { startUserAgent, type UserAgent, type UserAgentOptions } from "../transport/sip/user-agent.ts";
import { ADMISSIONS, answerInvite, type InviteContext } from "./answer-invite.ts";
import { confirmations } from "./confirmations.ts";
import { digestLimits } from "./digest-limits.ts";
import { hostAddresses } from "./host-addresses.ts";
import { countAnswer, observeSip } from "./metrics.ts";

interface SipCallsContext
  extends Pick<InviteContext, "accounts" | "agents" | "startCall" | "checkCall" | "announce" | "log"> {
  dropped: UserAgentOptions["dropped"];
}

/**
 * Takes calls by SIP.
 * @returns null if there is no SIP
 * @throws ConfigError when a file of the settings cannot be read
 */
export async function sipCalls(config: VoiceConfig, { dropped, ...ctx }: SipCallsContext): Promise<UserAgent | null> {
  if (config.PARLEY_SIP_LISTEN === "") return null;
  const [, hostname = "", port = ""] = /^\[?([^\]]+)\]?:(\d+)$/.exec(config.PARLEY_SIP_LISTEN) ?? [];
  const cert = pemOf(config, "PARLEY_SIP_TLS_CERT");
  const key = pemOf(config, "PARLEY_SIP_TLS_KEY");
  observeSip();
  const invites: InviteContext = {
    ...ctx,
    addressesOf: hostAddresses,
    admitFewAtOnce: fewAtOnce(ADMISSIONS),
    confirm: confirmations(),
    limitDigests: digestLimits(() => performance.now()),
    isLoopbackOpen: config.PARLEY_SIP_LOOPBACK_OPEN === "1",
  };
  return startUserAgent({
    hostname,
    port: Number(port),
    tls: cert && key ? { port: config.PARLEY_SIP_TLS_PORT, cert, key } : undefined,
    authorities: pemOf(config, "PARLEY_SIP_TLS_CA"),
    rtpPorts: config.PARLEY_RTP_PORTS,
    announced: config.PARLEY_RTP_ADDRESS || undefined,
    invited: (invite) => void answerInvite(invites, invite),
    answered: countAnswer,
    dropped,
  });
}

type FileVariable = "PARLEY_SIP_TLS_CERT" | "PARLEY_SIP_TLS_KEY" | "PARLEY_SIP_TLS_CA";

function pemOf(config: VoiceConfig, variable: FileVariable): string | undefined {
  const file = config[variable];
  if (file === "") return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(`${variable}: ${error instanceof Error ? error.message : error}`);
  }
}
