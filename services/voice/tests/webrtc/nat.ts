import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

/** A router between a browser and the port of an answer: we see another address than the browser's own. */
export async function natBefore(answer: string) {
  const [, port = ""] = /^a=candidate:\S+ \d+ \S+ \d+ \S+ (\d+)/m.exec(answer) ?? [];
  const inside = await bound();
  const outside = await bound();
  let browserPort = 0;
  outside.on("message", (datagram) => inside.send(datagram, browserPort, "127.0.0.1"));
  inside.on("message", (datagram, { port: from }) => {
    browserPort = from;
    outside.send(datagram, Number(port), "127.0.0.1");
  });
  return {
    /** The answer with the router's port. */
    answer: answer.replaceAll(` ${port} typ`, ` ${inside.address().port} typ`),
    close: () => {
      inside.close();
      outside.close();
    },
  };
}

async function bound(): Promise<Socket> {
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return socket;
}
