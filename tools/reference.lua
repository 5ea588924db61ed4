-- SPDX-License-Identifier: MIT
--- storlua tools/reference.lua [FILE]: writes docs/library.md, the reference of
--- the Lua library, from the doc comments of its modules. Run it after a change
--- there; a test compares the result with what is in the repository.

local fs = require("storlua.fs")

local root = arg[0]:match("^(.*)/tools/[^/]*$") or "."
local out_path = arg[1] or root .. "/docs/library.md"

-- What scripts are for comes first; the rest of lua/storlua is the inside.
local PARTS = {
  { "Timed I/O", "workload", "ring", "cache" },
  { "Devices", "device", "block_list", "device/watch", "gate", "target", "mmc", "nvme" },
  { "Watching", "watch", "kmsg", "sensors", "counters", "conditions" },
  { "Memory", "memory/bandwidth", "memory/latency", "memory/test", "ramfs" },
  { "Tasks", "task", "scope" },
  { "The world outside", "process", "stream", "serial", "tcp", "poll" },
  { "Files, numbers, errors", "fs", "quantity", "statistics", "histogram", "clock", "errors" },
}

-- What only the rest of the library calls.
local HIDDEN = {
  ["workload.set_run"] = true, ["workload.complete"] = true, ["stream.new"] = true,
  ["scopes.open"] = true, ["scopes.close_left_open"] = true, ["test.tally"] = true,
  ["errors.from_core"] = true, ["errors.check"] = true, ["storlua.SensorReadings"] = true,
  ["storlua.SensorSource"] = true, ["storlua.SensorChange"] = true, ["storlua.Sensors"] = true,
}

local HEAD = {
  "# The library\n",
  "What scripts may require, as `require(\"storlua.NAME\")`. Written by `tools/reference.lua` from "
    .. "the comments of the modules, which have the same text for an editor. The object `t` of a "
    .. "procedure is in [procedure.md](procedure.md), the fields of a workload in "
    .. "[events.md](events.md).\n",
  "A function that can fail raises an error (see [errors](#storluaerrors)); its `try_` form "
    .. "returns nil and that error. *waits*: other tasks run meanwhile, so it needs a task, which "
    .. "every script is.",
}

-- The comment blocks of a file, each with the line behind it.
local function blocks_of(text)
  local blocks, lines = {}, {}
  for line in text:gmatch("([^\n]*)\n") do
    local comment = line:match("^%-%-%-%s?(.*)$")
    if comment then
      lines[#lines + 1] = comment
    else
      if lines[1] then blocks[#blocks + 1] = { lines = lines, code = line } end
      lines = {}
    end
  end
  return blocks
end

-- Text and tags of a block; a line behind a tag goes on with it.
local function read_block(block)
  local doc = { text = {}, tags = {} }
  local last
  for _, line in ipairs(block.lines) do
    local name, rest = line:match("^@(%w+)%s*(.*)$")
    if name then
      last = { name = name, text = rest }
      doc.tags[#doc.tags + 1] = last
      doc[name] = doc[name] or last
    elseif last then
      last.text = last.text .. " " .. line
    else
      doc.text[#doc.text + 1] = line
    end
  end
  return doc
end

-- "type text" in two. A type may hold blanks inside of brackets and around "|";
-- several types have commas between them.
local function split_type(text)
  local wide, rest = text:match("^(.-)  +(.*)$")
  if wide then return wide, rest end
  local depth, last = 0, nil
  for at = 1, #text do
    local char = text:sub(at, at)
    if char:find("[<({]") then depth = depth + 1 end
    if char:find("[>)}]") then depth = depth - 1 end
    local goes_on = depth > 0 or text:find("^ ?[|,]", at) or last and last:find("[|,:]")
    if char == " " and not goes_on then return text:sub(1, at - 1), text:sub(at + 1) end
    if char ~= " " then last = char end
  end
  return text, ""
end

-- What stands in angle brackets would be taken for a tag of HTML.
local function plain(text) return (text:gsub("(%S*<[%w.]+>)", "`%1`")) end

local function paragraph(lines)
  return plain(table.concat(lines, " "):gsub("%s+", " "):gsub("%s$", ""))
end

local function put_field(out, tag)
  local name, rest = tag.text:match("^(%S+)%s+(.*)$")
  if name == "[integer]" then name = "1, 2, …" end
  local kind, text = split_type(rest)
  kind = kind:gsub("|", " or ")
  out[#out + 1] = ("- `%s`: `%s`%s"):format(name, kind, text ~= "" and ", " .. plain(text) or "")
end

-- A class that tells something of its fields.
local function put_class(out, doc)
  local name, fields = doc.class.text:match("^[%w.]+"), {}
  for _, tag in ipairs(doc.tags) do
    local is_inner = tag.text:find("^package ") or tag.text:find("^private ")
    if tag.name == "field" and not is_inner then fields[#fields + 1] = tag end
  end
  if not fields[1] or HIDDEN[name] then return end
  out[#out + 1] = ("\n**%s**%s\n"):format(name, doc.text[1] and ": " .. paragraph(doc.text) or "")
  for _, tag in ipairs(fields) do put_field(out, tag) end
end

local function returns_of(doc)
  local kinds, texts = {}, {}
  for _, tag in ipairs(doc.tags) do
    if tag.name == "return" then
      local kind, text = split_type(tag.text)
      kinds[#kinds + 1] = kind:gsub("|", " or ")
      if text ~= "" then texts[#texts + 1] = text end
    end
  end
  return table.concat(kinds, ", "), table.concat(texts, "; ")
end

local function put_function(out, doc, name, parameters)
  local kinds, what = returns_of(doc)
  out[#out + 1] = ("\n`%s(%s)%s`%s"):format(name, parameters, kinds ~= "" and " → " .. kinds or "",
    doc.async and " *waits*" or "")
  local text = paragraph(doc.text)
  if text ~= "" then out[#out + 1] = "\n" .. text end
  local list = {}
  for _, tag in ipairs(doc.tags) do
    local _, text_of = split_type(tag.text:match("^%S+%s+(.*)$") or "")
    if tag.name == "param" and text_of ~= "" then put_field(list, tag) end
  end
  if what ~= "" then list[#list + 1] = "- returns " .. plain(what) end
  if list[1] then out[#out + 1] = "\n" .. table.concat(list, "\n") end
end

local function put_module(out, name)
  local blocks = blocks_of(fs.read(("%s/lua/storlua/%s.lua"):format(root, name)))
  out[#out + 1] = ("\n### storlua.%s\n"):format((name:gsub("/", ".")))
  out[#out + 1] = paragraph(read_block(blocks[1]).text)
  for i = 2, #blocks do
    local doc = read_block(blocks[i])
    local owner, mark, called, parameters =
      blocks[i].code:match("^function ([%w_]+)([.:])([%w_]+)%(([^)]*)%)")
    if doc.class then
      put_class(out, doc)
    elseif owner and not doc.package and not called:find("^_") then
      local full_name = owner:lower() .. mark .. called
      if not HIDDEN[full_name] then put_function(out, doc, full_name, parameters) end
    end
  end
end

local out = { table.unpack(HEAD) }
for _, part in ipairs(PARTS) do
  out[#out + 1] = "\n## " .. part[1]
  for i = 2, #part do put_module(out, part[i]) end
end
fs.write_atomic(out_path, table.concat(out, "\n") .. "\n")
