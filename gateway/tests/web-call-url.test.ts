import { expect, test } from "bun:test";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { readGatewayConfig } from "../src/config.ts";
import { startGateway } from "../src/server.ts";

const NOWHERE = "127.0.0.1:1";
const NOW = new Date();
const SESSION = {
  sessionId: "ses_x",
  ownerId: "own_x",
  userAgent: "",
  createdAt: NOW,
  lastUsedAt: NOW,
  expiresAt: NOW,
};
const SERVED = { address: "127.0.0.1:0", log: silentLogger };

test("a web call's url begins with PARLEY_PUBLIC_URL, with or without a slash at its end", async () => {
  const account = await serve(
    AccountServiceService,
    { authenticateSession: async () => ({ session: SESSION }) },
    SERVED,
  );
  const created = { conversationId: "0198c1f0", token: "t", expiresAt: NOW, iceServers: [] };
  const voice = await serve(VoiceServiceService, { createWebCall: async () => created }, SERVED);
  for (const PARLEY_PUBLIC_URL of ["https://parley.example", "https://parley.example/"]) {
    const config = readGatewayConfig({
      PARLEY_PUBLIC_URL,
      PARLEY_ACCOUNT_ADDRESS: account.address,
      PARLEY_AGENT_ADDRESS: NOWHERE,
      PARLEY_PROMPT_ADDRESS: NOWHERE,
      PARLEY_CONVERSATION_ADDRESS: NOWHERE,
      PARLEY_WEBHOOK_ADDRESS: NOWHERE,
      PARLEY_VOICE_ADDRESS: voice.address,
      PARLEY_MESSAGING_ADDRESS: NOWHERE,
      PARLEY_KNOWLEDGE_ADDRESS: NOWHERE,
    });
    const gateway = await startGateway({ ...config, PORT: 0 }, silentLogger);
    const answer = await fetch(`http://${gateway.address}/v1/public/web-calls`, {
      method: "POST",
      headers: { cookie: "parley_session=x", "content-type": "application/json" },
      body: JSON.stringify({ agent_id: "agt_01m7yyhwdzeb28n9gms8rr2qyg" }),
    });
    const { url } = (await answer.json()) as { url: string };
    expect(url).toBe("https://parley.example/v1/public/web-calls/0198c1f0");
    await gateway.stop();
  }
  await Promise.all([account.stop(), voice.stop()]);
});
