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
  /** Stays the same if possible, because agents store the model's address. */
  modelPort: number;
}

const FILE = "installation.json";

/** Reads or creates the installation of a home; replaces a port that has been taken meanwhile. */
export async function openInstallation(home: Home): Promise<Installation> {
  const known = read(home);
  const [modelPort = 0] = await freePorts(1);
  const installation: Installation = {
    encryptionKey: randomBytes(32).toString("base64"),
    postgresPassword: randomBytes(24).toString("hex"),
    ...known,
    modelPort: known?.modelPort && (await canBeHad(known.modelPort)) ? known.modelPort : modelPort,
  };
  saveInstallation(home, installation);
  return installation;
}

async function canBeHad(port: number): Promise<boolean> {
  return (await promise(port)) && (await isFree(port));
}

export function saveInstallation(home: Home, installation: Installation): void {
  replaceFile(home.file(FILE), `${JSON.stringify(installation, null, 2)}\n`);
}

function read(home: Home): Installation | null {
  try {
    return JSON.parse(readFileSync(home.file(FILE), "utf8")) as Installation;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw new Error(`${home.file(FILE)} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
