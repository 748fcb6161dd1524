// Vlk²: the memory of what did not work. Hands each tool call of opencode 1 to `vlk2-hook opencode` and passes on
// what it answers. Whatever goes wrong here, opencode goes on as if this file were not there.
// Written by `vlk2 install opencode`, taken away by `vlk2 uninstall opencode`.
import { spawn } from "node:child_process"

const HOOK = "__VLK2_HOOK__"
const PATIENCE = 2000 // milliseconds; the hook keeps a deadline of its own that is far below

const ask = (message) =>
  new Promise((resolve) => {
    let out = ""
    let child
    const done = () => {
      clearTimeout(timer)
      try {
        resolve(out.trim() ? JSON.parse(out) : {})
      } catch {
        resolve({})
      }
    }
    const timer = setTimeout(() => {
      child?.kill()
      out = ""
      done()
    }, PATIENCE)
    try {
      child = spawn(HOOK[0], HOOK.slice(1), { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    } catch {
      return done()
    }
    child.on("error", done)
    child.on("close", done)
    child.stdout.on("data", (part) => (out += part))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(message))
  })

class Refused extends Error {}

export const Vlk2 = async ({ directory, worktree }) => {
  const told = new Map() // session -> what is still to be put into its system prompt
  const begun = new Set()
  const over = new Set() // calls whose result was handed over
  const messages = new Map() // call -> the assistant message that it came with
  const say = (event, session, more = {}) => ask({ event, session, directory, worktree, ...more })

  const result = async (input, args, text, more) => {
    if (over.has(input.callID)) return {}
    over.add(input.callID)
    const message = messages.get(input.callID)
    messages.delete(input.callID)
    return say("result", input.sessionID, { tool: input.tool, call: input.callID, message, args, output: text, ...more })
  }

  return {
    "chat.message": async (input) => {
      await say("prompt", input.sessionID)
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      if (!session) return
      if (!begun.has(session)) {
        begun.add(session)
        const { context } = await say("start", session, { source: "startup" })
        if (context) told.set(session, context)
      }
      const context = told.get(session)
      if (context) output.system.push(context)
    },
    "tool.execute.before": async (input, output) => {
      const { refuse } = await say("call", input.sessionID, { tool: input.tool, call: input.callID, args: output.args })
      if (refuse) {
        over.add(input.callID)
        throw new Refused(refuse)
      }
    },
    "tool.execute.after": async (input, output) => {
      const exit = output?.metadata?.exit
      const { context } = await result(input, input.args, output?.output ?? "", typeof exit === "number" ? { exit } : {})
      if (context && typeof output?.output === "string") output.output += `\n\n${context}`
    },
    event: async ({ event }) => {
      const part = event.type === "message.part.updated" ? event.properties?.part : undefined
      if (part?.type === "tool" && !over.has(part.callID)) messages.set(part.callID, part.messageID)
      if (part?.type === "tool" && part.state?.status === "error") {
        const call = { sessionID: part.sessionID, callID: part.callID, tool: part.tool }
        await result(call, part.state.input ?? {}, "", { error: String(part.state.error ?? "") })
      } else if (event.type === "session.compacted") {
        const session = event.properties?.sessionID
        const { context } = await say("compaction", session)
        if (context) told.set(session, context)
      } else if (event.type === "session.deleted") {
        await say("end", event.properties?.info?.id)
      }
    },
  }
}
