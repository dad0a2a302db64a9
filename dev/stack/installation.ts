import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { freePorts, isFree, promise } from "../processes/ports.ts";
import { type Home, replaceFile } from "./home.ts";

/** What a stack creates once and reuses at later starts. */
export interface Installation {
  /** 32 bytes in base64. */
  encryptionKey: string;
  postgresPassword: string;
  /** Where Postgres keeps its data when it cannot reach the home. */
  postgresFolder?: string;
  /** Stay the same if possible, because agents store the addresses of the stand-ins. */
  modelPort: number;
  speechPort: number;
  /** Owners connect carriers there. */
  carrierPort: number;
  whatsAppPort: number;
  dailyPort: number;
  /** Stays the same if possible, because phones store it. */
  sipPort: number;
  mediaPort: number;
}

const FILE = "installation.json";

/** Reads or creates the installation of a home; replaces a port that has been taken in the meantime. */
export async function openInstallation(home: Home): Promise<Installation> {
  const known = read(home);
  const [modelPort = 0, speechPort = 0, carrierPort = 0, whatsAppPort = 0, dailyPort = 0, sipPort = 0, mediaPort = 0] =
    await freePorts(7);
  const installation: Installation = {
    encryptionKey: randomBytes(32).toString("base64"),
    postgresPassword: randomBytes(24).toString("hex"),
    ...known,
    modelPort: await kept(known?.modelPort, modelPort),
    speechPort: await kept(known?.speechPort, speechPort),
    carrierPort: await kept(known?.carrierPort, carrierPort),
    whatsAppPort: await kept(known?.whatsAppPort, whatsAppPort),
    dailyPort: await kept(known?.dailyPort, dailyPort),
    sipPort: await kept(known?.sipPort, sipPort),
    mediaPort: await kept(known?.mediaPort, mediaPort),
  };
  saveInstallation(home, installation);
  return installation;
}

async function kept(known: number | undefined, fresh: number): Promise<number> {
  return known && (await promise(known)) && (await isFree(known)) ? known : fresh;
}

export function saveInstallation(home: Home, installation: Installation): void {
  replaceFile(home.file(FILE), `${JSON.stringify(installation, null, 2)}\n`);
}

/** One that an earlier release created may lack what has been added since. */
function read(home: Home): Partial<Installation> | null {
  try {
    return JSON.parse(readFileSync(home.file(FILE), "utf8")) as Partial<Installation>;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw new Error(`${home.file(FILE)} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
