/** What a network does to datagrams on their way. Each is a share of all datagrams, or the longest time in milliseconds. */
export interface BadNetwork {
  lost: number;
  doubled: number;
  /** Each copy is delayed by up to this, so that later ones overtake it. */
  jitterMs: number;
  /** The same seed does the same to the same datagrams. */
  seed: number;
}

/** @returns for each datagram in turn, the delays of its copies in milliseconds: none if it is lost */
export function badNetwork({ lost, doubled, jitterMs, seed }: BadNetwork): () => number[] {
  const random = randoms(seed);
  return () => {
    // Always as many numbers, so that one share does not change what another one decides.
    const [isLost, isDoubled, first, second] = [random() < lost, random() < doubled, random(), random()];
    if (isLost) return [];
    return (isDoubled ? [first, second] : [first]).map((delay) => delay * jitterMs);
  };
}

/** Forwards datagrams to an address as a bad network does, and what comes back from there unchanged to whoever sent last. */
export async function relayTo(port: number, network: BadNetwork) {
  const delays = badNetwork(network);
  const hostname = "127.0.0.1";
  const outcome = { lost: 0, doubled: 0 };
  let sender: number | null = null;
  let isOpen = true;
  const socket = await Bun.udpSocket({
    hostname,
    binaryType: "uint8array",
    socket: {
      data: (_socket, bytes, from) => {
        if (from === port) return void (sender && socket.send(bytes, sender, hostname));
        sender = from;
        const copies = delays();
        if (copies.length === 0) outcome.lost++;
        if (copies.length > 1) outcome.doubled++;
        const kept = bytes.slice();
        for (const ms of copies) setTimeout(() => isOpen && socket.send(kept, port, hostname), ms);
      },
    },
  });
  return {
    port: socket.port,
    /** How many datagrams it has lost and doubled. */
    outcome,
    stop: () => {
      isOpen = false;
      socket.close();
    },
  };
}

/** Numbers from 0 to 1 that look random: a generator of G. Marsaglia's (xorshift, 32 bits). */
function randoms(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
