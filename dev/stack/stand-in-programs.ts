import type { Program } from "../processes/keep-running.ts";
import { pingHttp } from "../processes/ping.ts";
import { bunProgram, operatorsVariables } from "./bun-program.ts";
import type { StandInName, Surroundings } from "./plan.ts";
import { standInAddress, standInUrl } from "./stand-in-settings.ts";

export function modelProgram(surroundings: Surroundings): Program {
  return standInProgram(surroundings, "model", surroundings.modelPort);
}

export function speechProgram(surroundings: Surroundings): Program {
  return standInProgram(surroundings, "speech", surroundings.speechPort);
}

export function whatsAppProgram(surroundings: Surroundings): Program {
  return standInProgram(surroundings, "whatsapp", surroundings.whatsAppPort, speechOf(surroundings));
}

export function dailyProgram(surroundings: Surroundings): Program {
  return standInProgram(surroundings, "daily", surroundings.dailyPort, speechOf(surroundings));
}

export function carrierProgram(surroundings: Surroundings): Program {
  return standInProgram(surroundings, "carrier", surroundings.carrierPort, speechOf(surroundings));
}

function speechOf({ speechPort }: Surroundings): Record<string, string> {
  return { PARLEY_SPEECH_URL: standInUrl(speechPort) };
}

function standInProgram(
  surroundings: Surroundings,
  name: StandInName,
  port: number,
  further: Record<string, string> = {},
): Program {
  const address = standInAddress(port);
  return bunProgram(surroundings, { name, called: name }, address, () => pingHttp(`http://${address}/healthz`), {
    ...operatorsVariables(surroundings.env),
    ...further,
    PORT: String(port),
  });
}
