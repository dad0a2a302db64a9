import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The state of a socket that listens, as proc_pid_net(5) writes it. */
const LISTEN = "0A";

/** The TCP ports that these processes listen on, by pid, from Linux's tables. */
export function listeningPorts(pids: readonly number[]): Map<number, number[]> {
  const ports = new Map(["/proc/net/tcp", "/proc/net/tcp6"].flatMap(listeners));
  return new Map(pids.map((pid) => [pid, socketsOf(pid).flatMap((inode) => ports.get(inode) ?? [])]));
}

/** The inode and port of every listening socket of the system. */
function listeners(table: string): [inode: string, port: number][] {
  const [, ...lines] = readFileSync(table, "utf8").trimEnd().split("\n");
  return lines.flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    return state === LISTEN ? [[inode, Number.parseInt(local.split(":")[1] ?? "", 16)] as [string, number]] : [];
  });
}

function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`).match(/^socket:\[(\d+)\]$/)?.[1] ?? [];
    } catch {
      return [];
    }
  });
}
