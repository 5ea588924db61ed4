-- SPDX-License-Identifier: MIT
--- Edits one line on a terminal: keys in, text out. It knows nothing about
--- waiting: whoever has bytes gives them to feed(). A library of its own
--- weight (libedit brings four shared objects) would double the start-up of
--- every script, and the static binary would go without.

local line_editor = {}

---@class storlua.LineEditor
---@field package write fun(text: string)
---@field package columns fun(): integer
---@field package left string text before the cursor
---@field package right string text from the cursor on
---@field package history string[]
local Editor = {}
Editor.__index = Editor
Editor.__name = "storlua.LineEditor"

--- Makes an editor.
---@param write fun(text: string) to the terminal
---@param columns fun(): integer width of the terminal
---@return storlua.LineEditor
function line_editor.new(write, columns)
  return setmetatable({
    write = write, columns = columns, left = "", right = "", history = {}, at = 1, prompt = "",
    bytes = "",
  }, Editor)
end

local function length(text) return utf8.len(text, 1, -1, true) or #text end

-- The first or last `n` characters of a text.
local function head(text, n)
  local stop = utf8.len(text) and utf8.offset(text, n + 1) or n + 1
  return text:sub(1, (stop or #text + 1) - 1)
end

local function tail(text, n)
  if n <= 0 then return "" end
  return text:sub(utf8.len(text) and utf8.offset(text, -n) or -n)
end

--- Shows the line again, as much of it as fits around the cursor.
function Editor:draw()
  local room = math.max(8, self.columns() - #self.prompt - 1)
  local left, right = self.left:gsub("%c", "?"), self.right:gsub("%c", "?")
  if length(left) > room then left = tail(left, room) end
  right = head(right, room - length(left))
  local back = length(right)
  self.write(("\r%s%s%s\27[K%s"):format(self.prompt, left, right,
    back > 0 and ("\27[%dD"):format(back) or ""))
end

--- Takes the line off the terminal, for other output; draw() brings it back.
function Editor:hide()
  self.write("\r\27[K")
end

--- Starts a line.
---@param prompt string
function Editor:start(prompt)
  self.prompt, self.left, self.right = prompt, "", ""
  self.at = #self.history + 1
  self:draw()
end

--- Remembers a line for the up key.
---@param line string
function Editor:remember(line)
  if line == "" or line == self.history[#self.history] then return end
  self.history[#self.history + 1] = line
  if #self.history > 1000 then table.remove(self.history, 1) end
end

local function recall(self, step)
  local at = self.at + step
  if at < 1 or at > #self.history + 1 then return end
  if self.at == #self.history + 1 then self.unfinished = self.left .. self.right end
  self.at = at
  self.left, self.right = self.history[at] or self.unfinished, ""
end

local function move(self, from, to, text)
  self[from] = from == "left" and self.left:sub(1, #self.left - #text) or self.right:sub(#text + 1)
  self[to] = to == "right" and text .. self.right or self.left .. text
end

local function last_character(text) return tail(text, 1) end
local function first_character(text) return head(text, 1) end
local function cut_left(self, count) self.left = self.left:sub(1, #self.left - count) end

local actions = {
  ["\1"] = function(self) self.left, self.right = "", self.left .. self.right end, -- Ctrl-A
  ["\5"] = function(self) self.left, self.right = self.left .. self.right, "" end, -- Ctrl-E
  ["\2"] = function(self) move(self, "left", "right", last_character(self.left)) end, -- Ctrl-B
  ["\6"] = function(self) move(self, "right", "left", first_character(self.right)) end, -- Ctrl-F
  ["\8"] = function(self) cut_left(self, #last_character(self.left)) end,
  ["\11"] = function(self) self.right = "" end, -- Ctrl-K
  ["\12"] = function(self) self.write("\27[H\27[2J") end, -- Ctrl-L
  ["\14"] = function(self) recall(self, 1) end, -- Ctrl-N
  ["\16"] = function(self) recall(self, -1) end, -- Ctrl-P
  ["\21"] = function(self) self.left = "" end, -- Ctrl-U
  ["\23"] = function(self) cut_left(self, #self.left:match("%S*%s*$")) end, -- Ctrl-W
  ["\27[3~"] = function(self) self.right = self.right:sub(#first_character(self.right) + 1) end,
}
actions["\127"] = actions["\8"]
for key, same in pairs {
  ["\27[A"] = "\16", ["\27[B"] = "\14", ["\27[C"] = "\6", ["\27[D"] = "\2", ["\27[H"] = "\1",
  ["\27[F"] = "\5", ["\27OH"] = "\1", ["\27OF"] = "\5", ["\27[1~"] = "\1", ["\27[4~"] = "\5",
} do
  actions[key] = actions[same]
end

-- Takes the next whole key off the bytes that have come; nil: not all of it
-- is there yet.
local function take_key(self)
  local bytes = self.bytes
  local size = 1
  if bytes == "" then return nil end
  local first = bytes:byte()
  if first == 27 then
    if bytes:match("^\27[%[O]?$") then return nil end
    local sequence = bytes:match("^\27%[[0-9;]*[^0-9;]") or bytes:match("^\27O.")
    if not sequence and bytes:match("^\27%[[0-9;]*$") then return nil end
    size = sequence and #sequence or 2
  elseif first >= 0xC0 then
    size = first >= 0xF0 and 4 or first >= 0xE0 and 3 or 2
    if #bytes < size and not bytes:find("[%z\1-\127]", 2) then return nil end
  end
  self.bytes = bytes:sub(size + 1)
  return bytes:sub(1, size)
end

--- Gives the editor bytes from the terminal and lets it work until a line is
--- done; what follows is kept for the next line.
---@param bytes string
---@return string|nil what "line", "interrupt" or "end"; nil: more keys are needed
---@return string|nil line
function Editor:feed(bytes)
  self.bytes = self.bytes .. bytes
  for key in take_key, self do
    if key == "\r" or key == "\n" then
      local line = self.left .. self.right
      self.left, self.right = line, ""
      self:draw()
      self.write("\n")
      return "line", line
    elseif key == "\3" then
      self.write("^C\n")
      return "interrupt"
    elseif key == "\4" and self.left .. self.right == "" then
      self.write("\n")
      return "end"
    elseif actions[key] then
      actions[key](self)
    elseif key == "\4" then
      actions["\27[3~"](self)
    elseif not key:find("^%c") or key == "\t" then
      self.left = self.left .. key
    end
  end
  self:draw()
  return nil
end

return line_editor
