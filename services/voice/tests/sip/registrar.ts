import { challenger } from "../../src/transport/sip/challenger.ts";
import { readNameAddress } from "../../src/transport/sip/messages/address.ts";
import { responseTo } from "../../src/transport/sip/messages/derived-messages.ts";
import { headerOf, isRequest, readSip, type SipRequest, writeSip } from "../../src/transport/sip/messages/message.ts";
import type { Target } from "../../src/transport/sip/sockets.ts";

const KNOWN = { username: "acme", password: "of-the-trunk", realm: "trunk.example" };

/** A trunk on loopback that keeps the bindings of those who show the password. @param shows the bindings as Contact has them */
export async function registrar({
  shortest = 60,
  granted = 120,
  shows = (uris: string[]) => uris.map((uri) => `<${uri}>;expires=${granted}`),
} = {}) {
  const bindings = new Set<string>();
  const asked: SipRequest[] = [];
  const challenges = challenger(() => Date.now());
  let isDown = false;

  const register = (request: SipRequest) => {
    const shown = headerOf(request, "authorization");
    if (!shown || challenges.check(shown, { method: "REGISTER", from: "" }, KNOWN) !== "right")
      return responseTo(request, 401, "Unauthorized", {
        headers: { "www-authenticate": challenges.challenge(KNOWN.realm, "") },
      });
    if (Number(headerOf(request, "expires")) < shortest)
      return responseTo(request, 423, "Interval Too Brief", { headers: { "min-expires": String(shortest) } });
    for (const value of request.headers.get("contact") ?? []) {
      const contact = readNameAddress(value);
      if (contact?.params.get("expires") === "0") bindings.delete(contact.uri);
      else if (contact) bindings.add(contact.uri);
    }
    return responseTo(request, 200, "OK", { headers: { contact: shows([...bindings]) } });
  };

  const socket = await Bun.udpSocket({
    hostname: "127.0.0.1",
    socket: {
      data: (from, bytes, port, address) => {
        const message = readSip(bytes);
        if (isDown || !message || !isRequest(message)) return;
        asked.push(message);
        from.send(writeSip(register(message)), port, address);
      },
    },
  });
  const target: Target = { protocol: "UDP", address: "127.0.0.1", port: socket.port };
  return {
    bindings,
    asked,
    target,
    goDown: () => {
      isDown = true;
    },
    comeBack: () => {
      isDown = false;
    },
    stop: () => socket.close(),
  };
}
