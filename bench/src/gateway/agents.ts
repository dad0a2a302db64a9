import { createAgent, type PublicAgent } from "../agents.ts";
import type { BenchStack } from "../stack.ts";

/** Creates agents with every field of a voice agent, each with its own name and prompt. */
export async function createAgents(stack: BenchStack, howMany: number): Promise<PublicAgent[]> {
  const names = Array.from({ length: howMany }, (_, at) => `Front desk ${at + 1}`);
  return Promise.all(
    names.map((name) =>
      createAgent(stack, {
        agent_name: name,
        agent_description: "Answers whoever calls the front desk",
        agent_category: "Customer Service",
        agent_tips: ["Say which company you call about"],
        first_message_prompt: "Hello, how can I help?",
        stt: { provider_name: "DEEPGRAM", model_name: "nova-3", language: "en-US" },
        llm: { provider_name: "OPENAI", model_name: "gpt-4.1-mini", params: { temperature: 0.4 } },
        tts: { provider_name: "ELEVENLABS", model_name: "eleven_flash_v2_5", voice_id: "21m00Tcm4TlvDq8ikWAM" },
        tools: { end_call: true },
      }),
    ),
  );
}
