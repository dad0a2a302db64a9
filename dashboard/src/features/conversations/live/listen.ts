import { api, unreachable } from "../../../api/client.ts";
import { problemIn } from "../../../api/problem.ts";

const CONNECTED_WITHIN_MS = 30_000;

/** Plays a running call in this page until `stop`. */
export interface Listening {
  stop(): void;
}

/**
 * @param onEnded called once, when the call or the connection ends other than by `stop`
 * @throws Problem of the API
 */
export async function listenTo(conversationId: string, onEnded: () => void): Promise<Listening> {
  const connection = new RTCPeerConnection();
  const player = new Audio();
  const release = () => {
    connection.onconnectionstatechange = null;
    connection.close();
    player.srcObject = null;
  };
  try {
    const params = { path: { conversation_id: conversationId } };
    const { url, token } = await api.POST("/v1/public/conversations/{conversation_id}/listen", { params });
    // The operator's public address may differ from the one that this page came from, which is the only one it may reach.
    const { pathname } = new URL(url);
    const headers = { Authorization: `Bearer ${token}` };
    connection.addTransceiver("audio", { direction: "recvonly" });
    connection.ontrack = ({ track }) => {
      player.srcObject = new MediaStream([track]);
      player.play().catch(() => {});
    };
    // It closes with the call; a connection alone is given up only half a minute later.
    const end = connection.createDataChannel("end");
    await connection.setLocalDescription(await connection.createOffer());
    const answer = await fetch(pathname, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/sdp" },
      body: connection.localDescription?.sdp ?? "",
      signal: AbortSignal.timeout(CONNECTED_WITHIN_MS),
    }).catch(unreachable);
    if (!answer.ok) throw problemIn(answer, await answer.json().catch(() => null));
    await connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });
    const ended = () => {
      end.onclose = null;
      release();
      onEnded();
    };
    end.onclose = ended;
    connection.onconnectionstatechange = () => connection.connectionState === "failed" && ended();
    return {
      stop: () => {
        end.onclose = null;
        release();
        void fetch(pathname, { method: "DELETE", headers, keepalive: true }).catch(() => {});
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}
