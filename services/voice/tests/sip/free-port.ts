/** A UDP port for a program that cannot choose one by itself. */
export async function freePort(): Promise<number> {
  const socket = await Bun.udpSocket({ hostname: "127.0.0.1" });
  const { port } = socket;
  socket.close();
  return port;
}
