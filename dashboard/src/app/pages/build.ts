/** The pages under Build, which come together: a script for each would be dozens of small files for what they share. */
export { AgentsPage } from "../../features/agents/agents-page.tsx";
export { AgentPage } from "../../features/agents/editor/agent-page.tsx";
export { PromptPage } from "../../features/prompts/prompt-page.tsx";
export { PromptsPage } from "../../features/prompts/prompts-page.tsx";
