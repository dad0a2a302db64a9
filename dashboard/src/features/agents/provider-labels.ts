const LABELS: Readonly<Record<string, string>> = {
  OPENAI: "OpenAI",
  OPENAI_RESPONSES: "OpenAI (Responses)",
  ANTHROPIC: "Anthropic",
  GOOGLE: "Google",
  GOOGLE_TTS: "Google",
  GROQ: "Groq",
  MISTRAL: "Mistral",
  DEEPGRAM: "Deepgram",
  ASSEMBLYAI: "AssemblyAI",
  ELEVENLABS: "ElevenLabs",
  CARTESIA: "Cartesia",
  AZURE: "Azure",
  CUSTOM_LLM: "Your own server",
  CUSTOM_STT: "Your own server",
  CUSTOM_TTS: "Your own server",
};

/** How people write a provider's name. */
export function providerLabel(name: string): string {
  return LABELS[name] ?? name;
}
