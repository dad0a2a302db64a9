import { api, ask, unreachable } from "../../api/client.ts";
import { problemIn } from "../../api/problem.ts";
import type { Caption } from "./captions.ts";
import { givenValues, type Setup } from "./setup.ts";

export interface Call {
  conversationId: string;
  /** Sends silence instead of the microphone. */
  mute(isMuted: boolean): void;
  hangUp(): Promise<void>;
}

/**
 * Calls the agent as it is on the screen with this browser's microphone.
 * @param onEnded called once, when the call ends other than by `hangUp`
 * @throws Problem of the API; DOMException when the microphone may not be used
 */
export async function callAgent(
  setup: Setup,
  onCaption: (caption: Caption) => void,
  onEnded: () => void,
): Promise<Call> {
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
  const player = new Audio();
  let connection: RTCPeerConnection | null = null;
  const release = () => {
    for (const track of microphone.getTracks()) track.stop();
    connection?.close();
    player.srcObject = null;
  };
  try {
    const body = { agent_id: setup.agentId, dynamic_variables: givenValues(setup), draft: setup.changes as never };
    const { url, token, ice_servers, conversation_id } = await ask(api.POST("/v1/public/web-calls", { body }));
    // The operator's public address may differ from the one that this page came from, which is the only one it may reach.
    const { pathname } = new URL(url);
    const headers = { Authorization: `Bearer ${token}` };
    connection = new RTCPeerConnection({ iceServers: ice_servers as RTCIceServer[] });
    for (const track of microphone.getTracks()) connection.addTrack(track, microphone);
    connection.ontrack = ({ streams }) => {
      player.srcObject = streams[0] ?? null;
      player.play().catch(() => {});
    };
    const captions = connection.createDataChannel("captions");
    captions.onmessage = ({ data }) => onCaption(JSON.parse(data));
    await connection.setLocalDescription(await connection.createOffer());
    const answer = await fetch(pathname, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/sdp" },
      body: connection.localDescription?.sdp ?? "",
    }).catch(unreachable);
    if (!answer.ok) throw problemIn(answer, await answer.json().catch(() => null));
    await connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });
    const ended = () => {
      captions.onclose = null;
      release();
      onEnded();
    };
    captions.onclose = ended;
    return {
      conversationId: conversation_id,
      mute: (isMuted) => {
        for (const track of microphone.getAudioTracks()) track.enabled = !isMuted;
      },
      hangUp: async () => {
        captions.onclose = null;
        await fetch(pathname, { method: "DELETE", headers, keepalive: true }).catch(() => {});
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}
