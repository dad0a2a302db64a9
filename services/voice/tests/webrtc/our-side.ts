import { RTCPeerConnection } from "werift";

/** What werift keeps for a call, as far as a browser can make it grow. */
export interface OurSide {
  iceTransports: { connection: { candidatePairs: { requestTransactionIds: Set<string> }[] } }[];
  dtlsTransports: { dtls: { bufferFragmentedHandshakes: unknown[] } }[];
  sctpTransport: {
    dataChannelQueue: unknown[];
    sctp: {
      lastReceivedTsn: number;
      outboundQueue: unknown[];
      outboundStreamSeq: Record<number, number>;
      reconfigQueue: number[];
      reconfigResponseSeq: number;
      inboundStreams: object;
      flush: { length: number };
    };
  };
}

/** Runs what answers an offer. @returns our side of it, which `answerOffer` does not show */
export async function withOurSide<T>(answer: () => Promise<T>): Promise<[T, OurSide]> {
  const { setRemoteDescription } = RTCPeerConnection.prototype;
  let answering: RTCPeerConnection | undefined;
  RTCPeerConnection.prototype.setRemoteDescription = function (description) {
    if (description.type === "offer") answering = this;
    return setRemoteDescription.call(this, description);
  };
  try {
    const answered = await answer();
    return [answered, answering as unknown as OurSide];
  } finally {
    RTCPeerConnection.prototype.setRemoteDescription = setRemoteDescription;
  }
}
