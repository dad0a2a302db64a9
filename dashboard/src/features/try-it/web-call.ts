import { api, unreachable } from "../../api/client.ts";
import { problemIn } from "../../api/problem.ts";
import type { Caption } from "./captions.ts";
import type { GivenResult } from "./live-calls.ts";
import { givenValues, type Setup } from "./setup.ts";

export interface Call {
  conversationId: string;
  /** What is sent: the microphone's sound, or silence while it is muted. */
  microphone: MediaStream;
  /** Sends silence instead of the microphone. */
  mute(isMuted: boolean): void;
  /** Goes on with another microphone. @returns its sound @throws DOMException when it may not be used */
  changeMicrophone(deviceId: string): Promise<MediaStream>;
  /** Gives the result of a call of a client tool. */
  give(toolCallId: string, given: GivenResult): void;
  hangUp(): Promise<void>;
}

const CONNECTED_WITHIN_MS = 30_000;
const NO_AUDIO =
  "The call has no connection for audio. Check that your network lets UDP through to the server, then try again.";

/**
 * Calls the agent as it is tried with a microphone of this browser.
 * @param deviceId of the microphone; "" for the browser's choice
 * @param onEnded called once, when the call ends other than by `hangUp`, with the reason if nobody hung up
 * @throws Problem of the API; DOMException when the microphone may not be used
 */
export async function callAgent(
  setup: Setup,
  deviceId: string,
  onCaption: (caption: Caption) => void,
  onEnded: (reason?: string) => void,
): Promise<Call> {
  let microphone = await soundOf(deviceId);
  const player = new Audio();
  let connection: RTCPeerConnection | null = null;
  const release = () => {
    for (const track of microphone.getTracks()) track.stop();
    connection?.close();
    player.srcObject = null;
  };
  try {
    const body = {
      agent_id: setup.agentId,
      agent_version: setup.version,
      dynamic_variables: givenValues(setup),
      draft: setup.changes as never,
      asks_start_webhook: setup.asksStartWebhook,
    };
    const { url, token, ice_servers, conversation_id } = await api.POST("/v1/public/web-calls", { body });
    // The operator's public address may differ from the one that this page came from, which is the only one it may reach.
    const { pathname } = new URL(url);
    const headers = { Authorization: `Bearer ${token}` };
    connection = new RTCPeerConnection({ iceServers: ice_servers as RTCIceServer[] });
    for (const track of microphone.getTracks()) connection.addTrack(track, microphone);
    connection.ontrack = ({ streams }) => {
      player.srcObject = streams[0] ?? null;
      player.play().catch(() => {});
    };
    const captions = connection.createDataChannel("captions", { protocol: "client_tools" });
    captions.onmessage = ({ data }) => onCaption(JSON.parse(data));
    await connection.setLocalDescription(await connection.createOffer());
    const answer = await fetch(pathname, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/sdp" },
      body: connection.localDescription?.sdp ?? "",
      signal: AbortSignal.timeout(CONNECTED_WITHIN_MS),
    }).catch(unreachable);
    if (!answer.ok) throw problemIn(answer, await answer.json().catch(() => null));
    await connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });
    const current = connection;
    const settle = () => {
      clearTimeout(timer);
      // What is on its way would show the call as under way again.
      captions.onmessage = captions.onclose = null;
      current.onconnectionstatechange = null;
    };
    const ended = (reason?: string) => {
      settle();
      release();
      onEnded(reason);
    };
    captions.onclose = () => ended();
    const hangUp = () => fetch(pathname, { method: "DELETE", headers, keepalive: true }).catch(() => {});
    const cutOff = () => {
      ended(NO_AUDIO);
      void hangUp();
    };
    // A browser that finds no way to try does not call it a failure.
    const timer = setTimeout(() => current.connectionState !== "connected" && cutOff(), CONNECTED_WITHIN_MS);
    current.onconnectionstatechange = () => current.connectionState === "failed" && cutOff();
    return {
      conversationId: conversation_id,
      microphone,
      mute: (isMuted) => {
        for (const track of microphone.getAudioTracks()) track.enabled = !isMuted;
      },
      changeMicrophone: async (next) => {
        const sound = await soundOf(next);
        const [track] = sound.getAudioTracks();
        const [before] = microphone.getAudioTracks();
        if (track) {
          track.enabled = before?.enabled ?? true;
          await current.getSenders()[0]?.replaceTrack(track);
        }
        before?.stop();
        microphone = sound;
        return sound;
      },
      give: (toolCallId, given) =>
        captions.send(JSON.stringify({ type: "tool_result", tool_call_id: toolCallId, ...given })),
      hangUp: async () => {
        settle();
        await hangUp();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

function soundOf(deviceId: string): Promise<MediaStream> {
  return navigator.mediaDevices.getUserMedia({ audio: deviceId === "" ? true : { deviceId: { exact: deviceId } } });
}
