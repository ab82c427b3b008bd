% Evaluates expressions for octave_adapter.py until its input ends.
%
% A request is one line: the name of a file with the operands' values, the name of a file for those of the result, and an expression of
% the operands x{1}, x{2}, ... The answer is one line: `ok CLASS SIZE...`, or `error MESSAGE`. An empty line follows each request: fgetl
% waits for the first character after the line that it returns.
crash_dumps_octave_core(false);
sighup_dumps_octave_core(false);
sigterm_dumps_octave_core(false);
while ischar(line = fgetl(stdin))
  if isempty(line)
    continue;
  end
  request = strsplit(line, "\t");
  try
    % The first line of the file with operands is the number of operands, then one line for each: CLASS COUNT SIZE...
    file = fopen(request{1}, "r");
    operands = str2double(fgetl(file));
    x = cell(1, operands);
    described = cell(1, operands);
    for place = 1:operands
      described{place} = strsplit(fgetl(file), " ");
    end
    for place = 1:operands
      class_of = described{place}{1};
      size_of = str2double(described{place}(2:end));
      stored = class_of;
      if strcmp(class_of, "logical")
        stored = "uint8";
      end
      values = fread(file, prod(size_of), [stored "=>" stored]);
      x{place} = reshape(cast(values, class_of), size_of);
    end
    fclose(file);
    result = eval(request{3});
    file = fopen(request{2}, "w");
    stored = class(result);
    if islogical(result)
      stored = "uint8";
    end
    fwrite(file, result, stored);
    fclose(file);
    printf("ok %s%s\n", class(result), sprintf(" %d", size(result)));
  catch failure
    printf("error %s\n", strrep(failure.message, "\n", " "));
  end
  fflush(stdout);
end
